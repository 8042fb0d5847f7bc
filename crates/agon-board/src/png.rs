//! Draws SVG documents as PNG.

use std::fmt;
use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// Why a drawing could not be made into a PNG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PngError(String);

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PngError {}

/// Maximum number of pixels on a side of the picture.
const MAX_SIDE: f32 = 8_000.0;

/// Draws an SVG document as a PNG, `scale` times as large as the document says. Texts are drawn
/// with the fonts of the system.
///
/// # Errors
/// [`PngError`] if the document is not an SVG, or the picture would be too large.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_system_fonts();
        Arc::new(fonts)
    });
    let options = Options { fontdb: Arc::clone(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| PngError(error.to_string()))?;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    if !(width.max(height) <= MAX_SIDE && width.min(height) >= 1.0) {
        return Err(PngError(format!(
            "the picture would have {width:.0} x {height:.0} pixels; at most {MAX_SIDE} are made"
        )));
    }
    let pixmap = Pixmap::new(width.ceil() as u32, height.ceil() as u32);
    let mut pixmap = pixmap.ok_or(PngError("the picture has no pixels".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| PngError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_pixels_and_refuses_what_is_too_large() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"4\">\
                   <rect width=\"4\" height=\"4\" fill=\"red\"/></svg>";
        let picture = png(svg, 2.0).expect("the picture is small");
        assert!(picture.starts_with(b"\x89PNG"));
        assert!(png(svg, 1e6).is_err());
        assert!(png("no svg", 1.0).is_err());
    }
}
