//! Which extension the file of a MIME type has.
//!
//! Owns the table. Must never make an extension out of what a server wrote: one that is not here has none.

/// Types and their extensions.
const EXTENSIONS: &[(&str, &str)] = &[
    ("application/gzip", "gz"),
    ("application/json", "json"),
    ("application/pdf", "pdf"),
    ("application/xml", "xml"),
    ("application/yaml", "yaml"),
    ("application/zip", "zip"),
    ("audio/aac", "aac"),
    ("audio/flac", "flac"),
    ("audio/mp4", "m4a"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/wav", "wav"),
    ("audio/webm", "weba"),
    ("audio/x-wav", "wav"),
    ("image/avif", "avif"),
    ("image/bmp", "bmp"),
    ("image/gif", "gif"),
    ("image/jpeg", "jpg"),
    ("image/png", "png"),
    ("image/svg+xml", "svg"),
    ("image/tiff", "tiff"),
    ("image/webp", "webp"),
    ("text/css", "css"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/markdown", "md"),
    ("text/plain", "txt"),
    ("text/xml", "xml"),
    ("video/mp4", "mp4"),
    ("video/webm", "webm"),
];

/// The extension for a MIME type, whatever its parameters and its case.
pub fn extension(mime: &str) -> Option<&'static str> {
    let kind = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    EXTENSIONS.iter().find(|(name, _)| *name == kind).map(|(_, extension)| *extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_its_extension_whatever_stands_behind_it() {
        assert_eq!(extension("Image/PNG"), Some("png"));
        assert_eq!(extension("text/plain; charset=utf-8"), Some("txt"));
        for mime in ["", "image/", "image/../../x", "application/x-desktop", "text/plain/x"] {
            assert_eq!(extension(mime), None, "{mime}");
        }
    }
}
