//! Animated drawings of matches.

use std::fmt::Write as _;

use crate::scene::Scene;
use crate::svg::{SvgOptions, draw, number, opening, size};

/// Returns the width and height that all of the scenes need.
fn canvas(scenes: &[Scene], options: &SvgOptions) -> (f64, f64) {
    let sizes: Vec<(f64, f64)> = scenes.iter().map(|scene| size(scene, options)).collect();
    let width = sizes.iter().map(|size| size.0).fold(60.0, f64::max);
    (width, sizes.iter().map(|size| size.1).fold(60.0, f64::max))
}

/// Draws scenes as SVG documents of the same size.
pub fn svg_frames(scenes: &[Scene], options: &SvgOptions) -> Vec<String> {
    let size = canvas(scenes, options);
    let frame = |scene: &Scene| {
        let mut out = opening(size);
        draw(&mut out, scene, options, size);
        out.push_str("</svg>\n");
        out
    };
    scenes.iter().map(frame).collect()
}

/// Draws scenes one after the other as one animated SVG document, each for `seconds`. The last one
/// stays three times as long, then the animation starts again.
pub fn animated_svg(scenes: &[Scene], options: &SvgOptions, seconds: f64) -> String {
    let (width, height) = canvas(scenes, options);
    let total = (scenes.len() as f64 + 2.0) * seconds;
    let mut out = opening((width, height));
    for (index, scene) in scenes.iter().enumerate() {
        let start = index as f64 * seconds / total;
        let is_last = index + 1 == scenes.len();
        let end = if is_last { 1.0 } else { (index as f64 + 1.0) * seconds / total };
        // Without support for animation, the last scene is shown.
        let shown = if is_last { "inline" } else { "none" };
        let _ = writeln!(out, "<g display=\"{shown}\">");
        let (times, values) = if index == 0 {
            (format!("0;{}", fraction(end)), "inline;none")
        } else if is_last {
            (format!("0;{}", fraction(start)), "none;inline")
        } else {
            (format!("0;{};{}", fraction(start), fraction(end)), "none;inline;none")
        };
        if scenes.len() > 1 {
            let _ = writeln!(
                out,
                "<animate attributeName=\"display\" calcMode=\"discrete\" values=\"{values}\" \
                 keyTimes=\"{times}\" dur=\"{}s\" repeatCount=\"indefinite\"/>",
                number(total)
            );
        }
        draw(&mut out, scene, options, (width, height));
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

fn fraction(value: f64) -> String {
    format!("{value:.5}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_is_a_group_that_is_shown_in_turn() {
        let scenes = vec![Scene { width: 2.0, height: 2.0, ..Scene::default() }; 3];
        let svg = animated_svg(&scenes, &SvgOptions::default(), 1.0);
        assert_eq!(svg.matches("<animate ").count(), 3);
        assert!(
            svg.contains("values=\"none;inline;none\" keyTimes=\"0;0.20000;0.40000\""),
            "{svg}"
        );
        assert_eq!(svg.matches("<g display=\"inline\">").count(), 1);
    }
}
