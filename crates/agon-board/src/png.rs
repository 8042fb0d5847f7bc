//! Draws SVG documents as PNG files and as pixels.

use std::fmt;
use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// Why a drawing could not be made into a PNG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PngError(String);

#[cfg(feature = "gif")]
impl PngError {
    pub(crate) fn new(why: String) -> PngError {
        PngError(why)
    }
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PngError {}

/// Maximum number of pixels on a side of the picture.
const MAX_SIDE: f32 = 8_000.0;

/// A picture as pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Number of pixels of a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Red, green and blue of each pixel, row by row from the top.
    pub bytes: Vec<u8>,
}

/// Draws an SVG document as a PNG, `scale` times as large as the document says. Texts are drawn
/// with the fonts of the system.
///
/// # Errors
/// [`PngError`] if the document is not an SVG, or the picture would be too large.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    draw(svg, scale)?.encode_png().map_err(|error| PngError(error.to_string()))
}

/// Draws an SVG document as pixels on a white ground, `scale` times as large as the document says.
///
/// # Errors
/// [`PngError`] as for [`png`].
pub fn rgb(svg: &str, scale: f32) -> Result<Pixels, PngError> {
    let mut pixmap = draw(svg, scale)?;
    let white = resvg::tiny_skia::Color::WHITE;
    let mut ground = Pixmap::new(pixmap.width(), pixmap.height())
        .ok_or(PngError("the picture has no pixels".to_owned()))?;
    ground.fill(white);
    let paint = resvg::tiny_skia::PixmapPaint::default();
    ground.draw_pixmap(0, 0, pixmap.as_mut().as_ref(), &paint, Transform::identity(), None);
    let bytes = ground.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
    Ok(Pixels { width: ground.width() as usize, height: ground.height() as usize, bytes })
}

/// Returns whether the system has any fonts. Without them, texts are missing in pictures.
pub fn has_fonts() -> bool {
    !fonts().is_empty()
}

fn fonts() -> &'static Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_system_fonts();
        Arc::new(fonts)
    })
}

fn draw(svg: &str, scale: f32) -> Result<Pixmap, PngError> {
    let options = Options { fontdb: Arc::clone(fonts()), ..Options::default() };
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
    Ok(pixmap)
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
        let pixels = rgb(svg, 2.0).expect("the picture is small");
        assert_eq!((pixels.width, pixels.height), (8, 8));
        assert_eq!(pixels.bytes, [255, 0, 0].repeat(64));
        assert!(png(svg, 1e6).is_err());
        assert!(png("no svg", 1.0).is_err());
    }
}
