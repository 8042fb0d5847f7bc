//! Draws scenes one after the other as an animated GIF.

use gif::{Encoder, Frame, Repeat};

use crate::animation::svg_frames;
use crate::png::{PngError, rgb};
use crate::scene::Scene;
use crate::svg::SvgOptions;

/// Maximum number of pictures of an animation.
const MAX_FRAMES: usize = 2000;
/// Speed of the search for 256 colours, from 1 (best colours) to 30. Boards have few colours.
const SPEED: i32 = 10;

/// Draws scenes as an animated GIF, each for `seconds`, `scale` times as large as their drawings.
/// The last one stays three times as long, then the animation starts again.
///
/// # Errors
/// [`PngError`] if the pictures would be too large or too many.
pub fn animated_gif(
    scenes: &[Scene],
    options: &SvgOptions,
    seconds: f64,
    scale: f32,
) -> Result<Vec<u8>, PngError> {
    let fail = |error: &dyn std::fmt::Display| PngError::new(error.to_string());
    if scenes.is_empty() || scenes.len() > MAX_FRAMES {
        return Err(fail(&format!(
            "an animation has 1 to {MAX_FRAMES} pictures, and these are {}",
            scenes.len()
        )));
    }
    let frames = svg_frames(scenes, options);
    // Delays are counted in hundredths of a second.
    let delay = (seconds * 100.0).round().clamp(2.0, 6000.0) as u16;
    let side = |length: usize| u16::try_from(length).map_err(|error| fail(&error));
    let first = rgb(&frames[0], scale)?;
    let (width, height) = (side(first.width)?, side(first.height)?);
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, width, height, &[]).map_err(|error| fail(&error))?;
    encoder.set_repeat(Repeat::Infinite).map_err(|error| fail(&error))?;
    for (number, frame) in frames.iter().enumerate() {
        let pixels = rgb(frame, scale)?;
        let mut picture = Frame::from_rgb_speed(width, height, &pixels.bytes, SPEED);
        let is_last = number + 1 == frames.len();
        picture.delay = if is_last { delay.saturating_mul(3) } else { delay };
        encoder.write_frame(&picture).map_err(|error| fail(&error))?;
    }
    drop(encoder);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_is_a_picture_and_the_last_one_stays() {
        let scenes = vec![Scene { width: 2.0, height: 2.0, ..Scene::default() }; 3];
        let bytes =
            animated_gif(&scenes, &SvgOptions::default(), 0.5, 1.0).expect("small pictures");
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(&bytes[..]).expect("a GIF");
        let picture = svg_frames(&scenes, &SvgOptions::default()).remove(0);
        let picture = rgb(&picture, 1.0).expect("a small picture");
        let mut delays = Vec::new();
        while let Some(frame) = decoder.read_next_frame().expect("a picture") {
            let size = (usize::from(frame.width), usize::from(frame.height));
            assert_eq!(size, (picture.width, picture.height));
            delays.push(frame.delay);
        }
        assert_eq!(delays, [50, 50, 150]);
        assert!(animated_gif(&[], &SvgOptions::default(), 0.5, 1.0).is_err());
    }
}
