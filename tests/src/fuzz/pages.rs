//! Lists in pages: the joined array holds every item of every page as it was written.
//!
//! Input: which list; then pages, a line each.

use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::via::is_own;
use harbor_runner::mcp::pages::{Kind, Next, Pages};
use harbor_runner::mcp::write::put_request;

use super::Target;
use super::input::Input;
use super::json::{Pairs, items, string};
use super::via::ME;
use super::writes::params_of;

pub(super) const PAGES: Target = Target {
    name: "pages",
    run: pages,
    corpus: &[
        b"\x00{\"tools\":[{\"name\":\"a\"}]}",
        b"\x03{\"prompts\":[{\"b\":1 ,\"a\":2},{\"c\":3}],\"nextCursor\":\"x\"}\n{\"prompts\":[],\"nextCursor\":\"y\"}\n{\"prompts\":[4],\"ttlMs\":1}",
        b"\x01{\"resources\":[ 1 , \"a,]\" ],\"nextCursor\":\"\\u0000\\n\\\"\"}\n{\"resources\":[null]}",
        b"\x02{\"resourceTemplates\":[],\"nextCursor\":\"\"}",
        b"\x00{\"tools\":[],\"nextCursor\":\"x\"}\n{\"tools\":[],\"nextCursor\":\"x\"}",
        b"\x00{\"tools\":[1],\"prompts\":[2]}",
        b"\x00{\"tools\":[1],\"nextCursor\":null}",
        b"\x00{\"tools\":{}}\n{}",
        b"\x03{\"prompts\":[{\"_meta\":{\"harbor/via\":[\"0123456789abcdef\",\"aaaaaaaaaaaaaaaa\"]}},{\"_meta\":{\"harbor/via\":[\"0123456789abcdef\"]}}]}",
    ],
};

const LISTS: &[(Operation<'static>, &str)] = &[
    (Operation::ListTools, "tools/list"),
    (Operation::ListResources, "resources/list"),
    (Operation::ListResourceTemplates, "resources/templates/list"),
    (Operation::ListPrompts, "prompts/list"),
];

fn pages(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (operation, method) = &LISTS[usize::from(input.byte()) % LISTS.len()];
    let (mut pages, first) = Pages::begin(Kind::of(operation).expect("it is a list"));
    assert_eq!(first.method, *method);
    let rest = String::from_utf8_lossy(input.rest()).into_owned();
    let mut wanted = Vec::new();
    for page in rest.split('\n') {
        let next = pages.take(page, ME);
        if !matches!(next, Next::Wrong(_)) {
            wanted.extend(items_of(page).into_iter().filter(|item| !is_own(item, ME)));
        }
        match next {
            Next::Wrong(_) => return,
            Next::Whole(array, count) => {
                assert_eq!(items(&array).as_deref(), Some(wanted.as_slice()));
                assert_eq!(usize::try_from(count), Ok(wanted.len()));
                return;
            }
            Next::More(request) => {
                assert_eq!(request.method, *method);
                let mut line = Vec::new();
                put_request(&mut line, 1, &request, None, None);
                let (params, page) = (params_of(&line), Pairs::parse(page.as_bytes()).unwrap());
                let cursor = |pairs: &Pairs<'_>, name| pairs.get(name).and_then(string);
                let given = cursor(&page, "nextCursor");
                assert_eq!(cursor(&Pairs::unique(params.as_bytes()).unwrap(), "cursor"), given);
            }
        }
    }
}

/// The items of the one list that a page holds.
fn items_of(page: &str) -> Vec<&str> {
    let pairs = Pairs::parse(page.as_bytes()).expect("a page is an object");
    let lists = ["tools", "resources", "resourceTemplates", "prompts"];
    let lists: Vec<_> = lists.iter().filter_map(|list| pairs.get(list)).collect();
    assert_eq!(lists.len(), 1, "a page holds one list");
    items(lists[0]).expect("it is an array")
}
