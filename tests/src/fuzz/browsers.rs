//! Browsers' manifests of native hosts: whatever stands in one, it is judged, and what is written says what it was to say.

use std::path::Path;

use harbor_client_configs::browsers::{BROWSERS, State};

use super::Target;

pub(super) const NATIVE_MANIFEST: Target = Target {
    name: "native_manifest",
    run: native_manifest,
    corpus: &[
        b"{\"name\":\"harbor_bridge\",\"description\":\"x\",\"path\":\"/b/harbor-bridge\",\"type\":\"stdio\",\"allowed_origins\":[\"chrome-extension://lkdfdnjebailkjbgamcenkafhihdhdpg/\"]}",
        b"{\"name\":\"harbor_bridge\",\"description\":\"x\",\"path\":\"/b/x\",\"type\":\"stdio\",\"allowed_extensions\":[\"harbor@harbor\",1]}",
        b"{\"name\":\"harbor_bridge\",\"path\":null}",
        b"/a \"b\"\\/\x01/harbor-bridge",
        b"[[[[",
    ],
};

fn native_manifest(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for browser in BROWSERS {
        let ids = browser.extension_ids(&[]);
        let found = browser.read(&text);
        let state = browser.judge(&text, Path::new("/b/harbor-bridge"), &ids, &|_| true);
        assert_eq!(found.is_none(), state == State::Unreadable);
        assert_eq!(found.is_some_and(|found| found.is_ours()), !state.is_foreign());
        // The same text as a path.
        let written = browser.read(&browser.text(&text, &ids)).expect("what was written can be read");
        assert_eq!((written.program.as_os_str(), written.ids.len()), (text.as_ref().as_ref(), 1));
    }
}
