//! Pictures of the size at which models look at them: larger ones cost more and show no more.
//!
//! Owns the scaling, and how much memory it may take for a picture. A picture that cannot be read stays as it is, and its
//! provider judges it, unless it says that it is larger than any provider takes. Must never run where answers wait.

use std::io::Cursor;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use harbor_ipc_proto::model::Image;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits};

/// Bytes that a picture may take while it is read; one of 8,000 by 8,000 pixels takes that.
const MEMORY: u64 = 256 * 1024 * 1024;

/// The longest side that providers take, in pixels. A conversation with a longer one is refused for ever.
const TAKEN: u32 = 2000;

/// The quality at which JPEG pictures are written, of 100.
const QUALITY: u8 = 85;

/// The picture with its longer side at most this long, in pixels. None if it is too large for providers, and cannot be made
/// smaller.
pub fn scaled(picture: Image, longest: u32) -> Option<Image> {
    match smaller(&picture, longest) {
        Ok(Some(smaller)) => Some(smaller),
        Ok(None) | Err(_) => {
            Some(picture).filter(|picture| longer_side(picture).is_none_or(|side| side <= TAKEN))
        }
    }
}

/// The longer side as the picture says it. None if it does not.
fn longer_side(picture: &Image) -> Option<u32> {
    let bytes = BASE64_STANDARD.decode(&picture.data).ok()?;
    let format = ImageFormat::from_mime_type(&picture.media_type)?;
    let (width, height) = match (format, &*bytes) {
        (ImageFormat::Gif, [_, _, _, _, _, _, w, x, h, y, ..]) => {
            (u16::from_le_bytes([*w, *x]).into(), u16::from_le_bytes([*h, *y]).into())
        }
        (ImageFormat::Png, bytes) => {
            let side = |from: usize| bytes.get(from..from + 4)?.try_into().ok().map(u32::from_be_bytes);
            (side(16)?, side(20)?)
        }
        _ => ImageReader::with_format(Cursor::new(bytes), format).into_dimensions().ok()?,
    };
    Some(width.max(height))
}

fn smaller(picture: &Image, longest: u32) -> Result<Option<Image>, ImageError> {
    let Some(format) = ImageFormat::from_mime_type(&picture.media_type).filter(is_read) else {
        return Ok(None);
    };
    let Ok(bytes) = BASE64_STANDARD.decode(&picture.data) else { return Ok(None) };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    if width.max(height) <= longest {
        return Ok(None);
    }
    // How a camera was held stands beside the pixels, and is lost with the rest of that.
    let orientation = decoder.orientation()?;
    let mut whole = DynamicImage::from_decoder(decoder)?;
    whole.apply_orientation(orientation);
    let small = whole.resize(longest, longest, FilterType::Triangle);
    let mut out = Cursor::new(Vec::new());
    let media_type = match format {
        ImageFormat::Jpeg => {
            JpegEncoder::new_with_quality(&mut out, QUALITY).encode_image(&small.to_rgb8())?;
            "image/jpeg"
        }
        _ => {
            small.write_to(&mut out, ImageFormat::Png)?;
            "image/png"
        }
    };
    let data = BASE64_STANDARD.encode(out.into_inner());
    Ok(Some(Image { media_type: media_type.to_owned(), data }))
}

/// A GIF may move; it stays.
fn is_read(format: &ImageFormat) -> bool {
    matches!(format, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, format: ImageFormat) -> Image {
        let mut out = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(width, height).write_to(&mut out, format).unwrap();
        Image { media_type: format.to_mime_type().to_owned(), data: BASE64_STANDARD.encode(out.into_inner()) }
    }

    fn size(picture: &Image) -> (u32, u32) {
        let bytes = BASE64_STANDARD.decode(&picture.data).unwrap();
        let format = ImageFormat::from_mime_type(&picture.media_type).unwrap();
        ImageReader::with_format(Cursor::new(bytes), format).into_dimensions().unwrap()
    }

    #[test]
    fn a_picture_is_brought_to_the_size_at_which_models_look() {
        let made = |width, height, format| scaled(picture(width, height, format), 392).unwrap();
        let large = made(625, 312, ImageFormat::Png);
        assert_eq!((size(&large), large.media_type.as_str()), ((392, 196), "image/png"));
        let high = made(50, 784, ImageFormat::Jpeg);
        assert_eq!((size(&high), high.media_type.as_str()), ((25, 392), "image/jpeg"));
        let web = made(500, 500, ImageFormat::WebP);
        assert_eq!((size(&web), web.media_type.as_str()), ((392, 392), "image/png"));
    }

    #[test]
    fn what_is_small_enough_or_cannot_be_read_stays_as_it_is() {
        let small = picture(1568, 10, ImageFormat::Png);
        assert_eq!(scaled(small.clone(), 1568), Some(small));
        for (media_type, data) in
            [("image/png", "AAAA"), ("image/gif", "R0lGODlh"), ("image/png", "no base64!")]
        {
            let odd = Image { media_type: media_type.into(), data: data.into() };
            assert_eq!(scaled(odd.clone(), 1568), Some(odd));
        }
    }

    #[test]
    fn what_is_too_large_for_providers_and_cannot_be_made_smaller_is_left_out() {
        // It says that it has 60,000 by 60,000 pixels.
        let mut bomb = BASE64_STANDARD.decode(picture(1, 1, ImageFormat::Png).data).unwrap();
        bomb[16..20].copy_from_slice(&60_000u32.to_be_bytes());
        bomb[20..24].copy_from_slice(&60_000u32.to_be_bytes());
        let bomb = Image { media_type: "image/png".into(), data: BASE64_STANDARD.encode(bomb) };
        assert_eq!(scaled(bomb, 1568), None);
        for (sides, is_taken) in
            [([0xd0_u8, 7, 0xd0, 7], true), ([0xd1, 7, 1, 0], false), ([1, 0, 0xff, 0xff], false)]
        {
            let data = BASE64_STANDARD.encode([&b"GIF89a"[..], &sides].concat());
            let moving = Image { media_type: "image/gif".into(), data };
            assert_eq!(scaled(moving, 1568).is_some(), is_taken, "{sides:?}");
        }
    }
}
