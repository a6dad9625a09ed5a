//! Lines of JSON, as they come in. Owns what is kept between two reads: never more than the limit.

/// A line's allocation serves the next one, unless it is larger.
const KEEP: usize = 64 * 1024;

/// The lines of one stream.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    line: Vec<u8>,
}

impl Lines {
    /// With at most `limit` bytes each.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new() }
    }

    /// Takes bytes; hands each line that is whole and not blank to `take`.
    ///
    /// # Errors
    /// When a line is too long; the stream is of no use any more.
    #[allow(clippy::result_unit_err, reason = "there is one way to fail")]
    pub fn feed(&mut self, mut bytes: &[u8], mut take: impl FnMut(&[u8])) -> Result<(), ()> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.add(&bytes[..end])?;
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            let text = line.trim_ascii();
            if !text.is_empty() {
                take(text);
            }
            if line.capacity() <= KEEP {
                self.line = line;
                self.line.clear();
            }
        }
        self.add(bytes)
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), ()> {
        if self.line.len() + bytes.len() > self.limit {
            return Err(());
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_and_bounded() {
        let mut found = Vec::new();
        let mut lines = Lines::new(10);
        for piece in ["a\n\r\nb", "c\r\n", "0123456789\nx"] {
            lines
                .feed(piece.as_bytes(), |line| found.push(String::from_utf8_lossy(line).into_owned()))
                .unwrap();
        }
        assert_eq!(found, ["a", "bc", "0123456789"]);
        assert_eq!(lines.feed(b"0123456789", |_| ()), Err(()));
        assert!(lines.line.len() <= 10);
    }
}
