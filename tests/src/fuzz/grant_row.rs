//! A row of the file of grants: whatever its texts are, nothing in it is lost, and only a list of texts is an allowlist.
//!
//! Input: whether there is a list, the time as eight bytes, then the texts, separated by zero bytes; the last is
//! the list.

use harbor_bridge::store::grants::{Row, read_row};

use super::Target;
use super::input::Input;
use super::json::{items, string};

pub(super) const GRANT_ROW: Target = Target {
    name: "grant_row",
    run: grant_row,
    corpus: &[
        b"\x00\0\0\x01\xa0\xc6\x5d\x54\0https://a.example\0default\0mcp:tools.call\0ALLOW_ALWAYS",
        b"\x01\0\0\x01\xa0\xc6\x5d\x54\0https://a.example:8443\0p\0mcp:tools.call\0DENY\0[\"files/read\",\"time/*\"]",
        b"\x01\0\0\0\0\0\0\0\0o\0p\0s\0DENY\0[]",
        b"\x01\0\0\0\0\0\0\0\0o\0p\0s\0ALLOW_ALWAYS\0null",
        b"\x01\0\0\0\0\0\0\0\0o\0p\0s\0ALLOW_ALWAYS\0[\"a\",[\"b\"]]",
        b"\x01\0\0\0\0\0\0\0\0o\0p\0s\0ALLOW_ALWAYS\0 [ \"\\u0000\\ud83d\\ude00\" , \"\\ud83d\" ]",
        b"\x01\0\0\0\0\0\0\0\0o\0p\0s\0ALLOW_ALWAYS\0[\"files/read\"",
        b"\x00\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0",
        b"",
    ],
};

fn grant_row(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let has_list = input.byte() % 2 == 1;
    let created_at = i64::from_be_bytes([(); 8].map(|()| input.byte()));
    let rest = String::from_utf8_lossy(input.rest()).into_owned();
    let mut texts = rest.splitn(5, '\0');
    let [origin, profile, scope, grant_type, list] = [(); 5].map(|()| texts.next().unwrap_or_default());
    let wanted =
        u64::try_from(created_at).ok().zip(if has_list { texts_of(list).map(Some) } else { Some(None) });
    match read_row(origin, profile, scope, grant_type, has_list.then_some(list), created_at) {
        Row::Whole(grant) => {
            let key = [&grant.origin, &grant.profile, &grant.scope, &grant.grant_type];
            assert_eq!(key, [origin, profile, scope, grant_type]);
            let written = grant.allowed_tools.as_ref().map(|tools| serde_json::to_string(tools).unwrap());
            let again = read_row(
                origin,
                profile,
                scope,
                grant_type,
                written.as_deref(),
                grant.created_at.cast_signed(),
            );
            assert_eq!(again, Row::Whole(grant.clone()));
            assert_eq!(Some((grant.created_at, grant.allowed_tools)), wanted);
        }
        Row::Broken { origin: of, profile: in_, scope: to } => {
            assert_eq!([&*of, &*in_, &*to], [origin, profile, scope]);
            assert_eq!(wanted, None);
        }
    }
}

/// The texts of a list that has nothing else.
fn texts_of(list: &str) -> Option<Vec<String>> {
    items(list)?.into_iter().map(string).collect()
}
