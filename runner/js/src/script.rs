//! The script's text.
//!
//! Owns reading the one file that this program reads. Must never read more than [`MAX_SCRIPT`] of it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The longest script, in bytes.
pub(crate) const MAX_SCRIPT: u64 = 512 * 1024;

/// Reads a script.
///
/// # Errors
/// A sentence for its author: it cannot be read, is too long, or is no text.
pub(crate) fn read(file: &Path) -> Result<String, String> {
    let shown = file.display();
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|file| file.take(MAX_SCRIPT + 1).read_to_end(&mut bytes));
    opened.map_err(|error| format!("cannot read {shown}: {error}"))?;
    if bytes.len() as u64 > MAX_SCRIPT {
        return Err(format!(
            "{shown} is longer than {} KiB; leave out what it does not use",
            MAX_SCRIPT / 1024
        ));
    }
    let text = String::from_utf8(bytes).map_err(|wrong| {
        let at = wrong.utf8_error().valid_up_to();
        format!("{shown} is not UTF-8 (byte {at}); save it as UTF-8")
    })?;
    if text.contains('\0') {
        return Err(format!("{shown} has a NUL character; it is no script"));
    }
    // Editors of other systems put it there.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_script_is_told() {
        let file = std::env::temp_dir().join(format!("harbor-script-{}.js", std::process::id()));
        let is = |content: &[u8]| {
            std::fs::write(&file, content).unwrap();
            read(&file)
        };
        assert_eq!(is("\u{feff}let é = 1".as_bytes()), Ok("let é = 1".into()));
        assert!(is(b"let a = '\xff'").unwrap_err().ends_with("(byte 9); save it as UTF-8"));
        assert!(is(b"a\0b").unwrap_err().contains("NUL"));
        let long = vec![b' '; usize::try_from(MAX_SCRIPT).unwrap() + 1];
        assert!(is(&long).unwrap_err().contains("longer than 512 KiB"));
        std::fs::remove_file(&file).unwrap();
        assert!(read(&file).unwrap_err().starts_with("cannot read "));
    }
}
