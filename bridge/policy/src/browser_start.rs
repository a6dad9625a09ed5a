//! The advice for a server whose browser does not start.
//!
//! Owns the words by which this is recognized. They come from Debian's Chromium in a sandbox without what a browser needs, and
//! from the libraries that start it. Each was seen in practice. Must never advise more than the entry of the same package gives.

use crate::sandbox::hint::shell;

/// The words for a browser that is not found, or that has ended at once, in small letters.
const NO_BROWSER: &[&str] = &[
    "chromium distribution 'chrome' is not found at",
    "could not find google chrome executable",
    "cannot open /etc/chromium.d/",
    "process_singleton_posix.cc",
    "protocol error (target.setdiscovertargets): target closed",
    "missing x server to start the headful browser",
];

/// The words for a browser whose own sandbox cannot be made.
const NO_SANDBOX: &[&str] = &[
    "no usable sandbox!",
    "running as root without --no-sandbox is not supported",
    "chrome does not start as root",
];

/// The advice for a server whose tool failed with these words. `entry`: the id of the entry that Harbor brings along for its
/// package.
#[must_use]
pub fn advice(said: &str, server: &str, entry: Option<&str>) -> Option<String> {
    let said = said.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| said.contains(words));
    let no_sandbox = says(NO_SANDBOX);
    match entry {
        Some(entry) if no_sandbox || says(NO_BROWSER) => Some(format!(
            "its browser does not start; install it by its entry, which has the arguments and grants that a browser \
             needs: `harbor install {entry}`"
        )),
        None if no_sandbox => Some(format!(
            "a browser cannot make its own sandbox inside Harbor's, which confines it anyway: if {server} has an \
             argument that passes --no-sandbox to its browser, set it with `harbor set {} -- ARGUMENTS…`",
            shell(server)
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_browsers_that_did_not_start_lead_to_the_entry() {
        let entry = |said: &str| advice(said, "s", Some("playwright"));
        for said in [
            "Error: async initializeServer: Chromium distribution 'chrome' is not found at /opt/google/chrome/chrome",
            "Cause: Could not find Google Chrome executable for channel 'stable' at:\n - /opt/google/chrome/chrome.",
            "[pid=13][err] /usr/bin/chromium: 77: .: cannot open /etc/chromium.d/*: No such file",
            "[13:13:1127/123454.867619:FATAL:chrome/browser/process_singleton_posix.cc:297] Check failed: . socket() failed: \
             Operation not permitted (1)",
            "[13:13:1127/123528.411873:ERROR:content/browser/zygote_host/zygote_host_impl_linux.cc:130] No usable sandbox! If this \
             is a Debian system, please install the chromium-sandbox package to solve this problem.",
            "zygote_host_impl_linux.cc:103] Running as root without --no-sandbox is not supported. See https://crbug.com/638180.",
            "Protocol error (Target.setDiscoverTargets): Target closed\nCause: ",
            "Missing X server to start the headful browser. Either set headless to true or use xvfb-run",
        ] {
            assert!(entry(said).unwrap().ends_with("`harbor install playwright`"), "{said}");
            let no_sandbox = said.contains("andbox!") || said.contains("--no-sandbox");
            assert_eq!(advice(said, "s", None).is_some(), no_sandbox, "{said}");
        }
        for said in ["", "net::ERR_NAME_NOT_RESOLVED at https://example.org", "Target page has been closed"] {
            assert_eq!(entry(said), None, "{said}");
        }
        assert!(advice("No usable sandbox!", "a b", None).unwrap().contains("`harbor set 'a b' -- "));
    }
}
