//! Pages that a person adds to a message.
//!
//! ```text
//!  URL ─► harbor-runner-http fetch-page, in the sandbox of an installer ─► PAGES/N/data/page ─► a part of a message
//!                                                                             └─ removed, however it ends
//! ```
//!
//! Owns the directory of the fetched pages. Must never connect, keep a page, or log a word of one.

use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_home::files::regular_file;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{ChatPart, SandboxSettings};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::model::{MAX_IMAGE, picture_type};
use harbor_policy::page_fetch::{LIMIT, MAX_TEXT, PAGE, PageFetch};

use crate::host::start_failed;
use crate::store::workplaces::Workplaces;
use crate::supervisor::Supervisor;

/// Pages that can be fetched at once.
const MOST: u32 = 8;

/// The fetcher ends by itself before.
const END: Duration = LIMIT.saturating_add(Duration::from_secs(5));

/// The pages.
#[derive(Debug)]
pub struct Pages {
    supervisor: Rc<Supervisor>,
    places: Workplaces,
}

impl Pages {
    /// Pages that this supervisor's programs fetch.
    #[must_use]
    pub fn new(supervisor: Rc<Supervisor>) -> Self {
        let places = Workplaces::new(supervisor.pages_directory(), "page", MOST);
        Self { supervisor, places }
    }

    /// Fetches one; gives the part of a message that it becomes. Dropping this ends it.
    ///
    /// # Errors
    /// Why it is not there.
    pub async fn fetch(&self, page: &PageFetch) -> Result<ChatPart, ErrorBody> {
        let place = self.places.take("pages are being fetched already; wait until one is there").await?;
        let data = place.root.join("data");
        let args = page.command(&data.to_string_lossy()).into_iter().skip(1).collect();
        let server =
            self.supervisor.fetcher(&place.name, args, place.root.clone(), SandboxSettings::default());
        let server = server.ok_or_else(|| internal("a page got a name that none can have"))?;
        let fetched = server.fetch_aside(END, |_| ()).await;
        let fetched = fetched.map_err(|error| start_failed(server.id(), &error))?;
        fetched.map_err(|why| unfetched(page, &why))?;
        let bytes = tokio::task::spawn_blocking(move || read(&data.join(PAGE))).await;
        let bytes =
            bytes.ok().and_then(Result::ok).ok_or_else(|| internal("a page that came cannot be read"))?;
        part_of(page.title(), bytes).ok_or_else(|| unfetched(page, "its fetcher wrote what is no page"))
    }
}

/// Reads a page; one byte more than any may have shows that it is none.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular_file(path)?.take(MAX_IMAGE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The part that these bytes become: a picture, or a text with this title.
fn part_of(title: String, bytes: Vec<u8>) -> Option<ChatPart> {
    match picture_type(&bytes) {
        Some(kind) => (bytes.len() <= MAX_IMAGE).then(|| ChatPart {
            mediaType: Some(kind.to_owned()),
            data: Some(STANDARD.encode(&bytes)),
            ..ChatPart::of_type("image")
        }),
        None => {
            let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_TEXT)?;
            Some(ChatPart { text: Some(text), title: Some(title), ..ChatPart::of_type("text") })
        }
    }
}

fn unfetched(page: &PageFetch, why: &str) -> ErrorBody {
    let why = format!("{} was not fetched: {why}", page.shown());
    ErrorBody::new(Code::ConnectionFailed, why).with("cause", "not_fetched")
}

fn internal(why: impl Into<String>) -> ErrorBody {
    ErrorBody::new(Code::Internal, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_a_picture_or_a_text_and_what_is_neither_nothing() {
        let of = |bytes: &[u8]| part_of("https://a.com/".into(), bytes.to_vec());
        let picture = of(b"GIF89a").unwrap();
        assert_eq!((picture.r#type.as_str(), picture.mediaType.as_deref()), ("image", Some("image/gif")));
        assert_eq!((picture.data.as_deref(), picture.title), (Some("R0lGODlh"), None));
        let text = of("b\u{e9}".as_bytes()).unwrap();
        assert_eq!((text.r#type.as_str(), text.text.as_deref()), ("text", Some("b\u{e9}")));
        assert_eq!(text.title.as_deref(), Some("https://a.com/"));
        assert!(of(b"\xff").is_none() && of(&vec![b'a'; MAX_TEXT + 1]).is_none());
        assert!(of(&[b"GIF89a", &vec![0; MAX_IMAGE][..]].concat()).is_none());
    }
}
