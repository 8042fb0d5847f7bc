//! The pages: files that are built from `web/` and are part of the program.

use std::io::Write as _;
use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

/// A file of the page.
pub(crate) struct Asset {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
    compressed: Vec<u8>,
    /// Changes whenever the content changes.
    tag: String,
}

/// All files with their types. `web/build.sh` writes them.
const FILES: &[(&str, &str, &[u8])] = &[
    ("/index.html", "text/html; charset=utf-8", include_bytes!("../assets/index.html")),
    ("/assets/app.js", "text/javascript", include_bytes!("../assets/assets/app.js")),
    ("/assets/app.css", "text/css", include_bytes!("../assets/assets/app.css")),
    ("/assets/editor.js", "text/javascript", include_bytes!("../assets/assets/editor.js")),
    ("/icon.svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
];

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    FILES
        .iter()
        .map(|&(path, kind, bytes)| {
            let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
            let compressed = compress(bytes);
            Asset { path, kind, bytes, compressed, tag: format!("\"{hash:016x}\"") }
        })
        .collect()
});

fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail")
}

/// Returns the number of bytes of all files, compressed.
pub fn compressed_size() -> usize {
    ASSETS.iter().map(|asset| asset.compressed.len()).sum()
}

/// Answers with a file. Paths without a file are pages, which the script of the page shows.
pub(crate) async fn serve(uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    let found = ASSETS.iter().find(|asset| asset.path == path);
    let is_page = !path.rsplit('/').next().unwrap_or("").contains('.');
    let Some(asset) = found.or_else(|| ASSETS.first().filter(|_| is_page)) else {
        return (StatusCode::NOT_FOUND, "there is no such page\n").into_response();
    };
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let common = [
        (header::CONTENT_TYPE, asset.kind),
        (header::ETAG, asset.tag.as_str()),
        // A new version of the program must not meet scripts of an old one.
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "accept-encoding"),
    ];
    if text(header::IF_NONE_MATCH) == Some(asset.tag.as_str()) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    if text(header::ACCEPT_ENCODING).unwrap_or("").contains("gzip") {
        let body = Body::from(asset.compressed.as_slice());
        return (common, [(header::CONTENT_ENCODING, "gzip")], body).into_response();
    }
    (common, Body::from(asset.bytes)).into_response()
}
