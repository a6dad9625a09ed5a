//! What the commands about models ask and say.

use super::super::rig::{command, error};
use super::*;

const PROVIDERS: &str = r#"{"type":"llm_list_providers_result","request_id":"1","providers":[{"id":"p","enabled":true,"base_url":"http://127.0.0.1:1/v1"},{"id":"q","enabled":true,"needs_api_key":true}],"active":"p"}"#;

#[test]
fn models_are_a_table_and_without_any_there_is_a_next_step() {
    let models = r#"{"type":"llm_list_models_result","request_id":"2","models":[{"id":"p:m","provider":"p","model":"m","context_window":4096,"tools":true,"vision":true,"is_local":true},{"id":"p:n","provider":"p","model":"n","tools":false,"input_price":2500000,"output_price":10000000}],"failed":["q"]}"#;
    let again = PROVIDERS.replace("\"request_id\":\"1\"", "\"request_id\":\"3\"");
    let active = r#"{"type":"llm_get_active_result","request_id":"4","active":"p","status":"ready"}"#;
    let ran = command(false, &[PROVIDERS, models, &again, active], |c, s| run(c, &Models::List, s));
    assert_eq!(
        ran.printed,
        "MODEL          CONTEXT  CAN            RUNS       PRICE\n\
         p:m (default)  4096     tools, images  here       free\n\
         p:n            -        -              elsewhere  $2.50 in, $10.00 out\n"
    );
    let ran = command(true, &[PROVIDERS, models, &again], |c, s| run(c, &Models::List, s));
    let whole: serde_json::Value = serde_json::from_str(&ran.printed).unwrap();
    assert_eq!((&whole["failed"][0], &whole["providers"][0]["id"]), (&"q".into(), &"p".into()));
    let none = r#"{"type":"llm_list_providers_result","request_id":"1","providers":[]}"#;
    let no_models = r#"{"type":"llm_list_models_result","request_id":"2","models":[]}"#;
    let ran = command(false, &[none, no_models], |c, s| run(c, &Models::List, s));
    assert_eq!((ran.printed.as_str(), ran.exit), ("", Exit::Done));
}

#[test]
fn a_provider_is_added_as_it_was_typed() {
    let new = NewProvider {
        kind: "openai".into(),
        name: Some("work".into()),
        url: None,
        dialect: Some("chat".into()),
        allow_private: true,
        allow_other_user: false,
    };
    let answer = r#"{"type":"llm_add_provider_result","request_id":"1","id":"work","provider":{"id":"work","base_url":"https://api.openai.com/v1","needs_api_key":true}}"#;
    let ran = command(false, &[answer], |c, s| run(c, &Models::Add(new), s));
    assert_eq!(
        ran.printed,
        "work is added, at https://api.openai.com/v1; `harbor models key work` asks for its key\n"
    );
    assert_eq!(
        ran.asked,
        [
            r#"{"type":"llm_add_provider","request_id":"1","provider_type":"openai","name":"work","dialect":"chat","allow_private":true}"#
        ]
    );
}

#[test]
fn the_default_is_a_model_or_the_first_one_of_a_provider() {
    let set = |name: &str| Models::Default { model: Some(name.into()), of: None, forget: false };
    let active = r#"{"type":"llm_set_active_result","request_id":"2","success":true,"active":"p"}"#;
    let ran = command(false, &[PROVIDERS, active], |c, s| run(c, &set("p"), s));
    assert_eq!(ran.printed, "the first model of p is now the default model\n");
    assert!(ran.asked[1].contains(r#""provider_id":"p""#), "{:?}", ran.asked);
    let model =
        r#"{"type":"llm_set_model_result","request_id":"2","success":true,"active":"p","model":"m:8b"}"#;
    let ran = command(false, &[PROVIDERS, model], |c, s| run(c, &set("p:m:8b"), s));
    assert_eq!(ran.printed, "p:m:8b is now the default model\n");
    assert!(ran.asked[1].contains(r#""model_id":"p:m:8b""#), "{:?}", ran.asked);
}

#[test]
fn who_is_not_there_is_told_before_anything_is_asked_for() {
    for wanted in [Models::Remove { id: "r".into() }, Models::Key { id: "r".into() }] {
        let ran = command(false, &[PROVIDERS], |c, s| run(c, &wanted, s));
        assert_eq!((ran.exit, ran.asked.len()), (Exit::NotFound, 1));
    }
    let check = Models::Check { id: "r".into() };
    assert_eq!(command(false, &[&error("not_found")], |c, s| run(c, &check, s)).exit, Exit::NotFound);
}

#[test]
fn a_check_that_fails_says_it_in_the_providers_words() {
    let answer = r#"{"type":"llm_check_provider_result","request_id":"1","available":false,"cause":"unauthorized","message":"no such key here"}"#;
    let check = Models::Check { id: "p".into() };
    let ran = command(false, &[answer], |c, s| run(c, &check, s));
    assert_eq!((ran.printed.as_str(), ran.exit), ("p: no such key here\n", Exit::Unavailable));
    let answer = r#"{"type":"llm_check_provider_result","request_id":"1","available":true,"latency_ms":12}"#;
    assert_eq!(command(false, &[answer], |c, s| run(c, &check, s)).printed, "p answers (12 ms)\n");
}

#[test]
fn usage_and_budgets_are_tables() {
    let rows = r#"{"type":"llm_usage_result","request_id":"1","usage":[{"provider":"p","model":"m","principal":"owner","day":"2026-11-26","requests":2,"input_tokens":11,"output_tokens":7,"exactness":"exact","cost_microdollars":4200,"unpriced_requests":1}]}"#;
    assert_eq!(
        command(false, &[rows], |c, s| run(c, &Models::Usage { chats: false }, s)).printed,
        "DAY         WHO    MODEL  REQUESTS  IN  OUT  COST               COUNT\n\
         2026-11-26  owner  p:m    2         11  7    $0.0042 without 1  exact\n"
    );
    let all = r#"{"type":"llm_list_budgets_result","request_id":"1","budgets":[{"principal":"*","is_set":true,"tokens_per_day":9},{"principal":"owner","used":5}],"of_an_origin":50000}"#;
    let budget =
        |principal: Option<&str>, tokens| Models::Budget { principal: principal.map(str::to_owned), tokens };
    assert_eq!(
        command(false, &[all], |c, s| run(c, &budget(Some("owner"), None), s)).printed,
        "WHO    TOKENS A DAY  USED TODAY  KEPT  SET\n\
         owner  no limit      5           0     no\n"
    );
    assert_eq!(
        command(false, &[all], |c, s| run(c, &budget(None, None), s)).printed,
        "WHO            TOKENS A DAY  USED TODAY  KEPT  SET\n\
         *              9             0           0     yes\n\
         owner          no limit      5           0     no\n\
         other origins  50000         0           0     no\n"
    );
    let other = budget(Some("https://example.com"), None);
    let printed = command(false, &[all], |c, s| run(c, &other, s)).printed;
    assert!(printed.contains("https://example.com  50000 "), "{printed}");
    let set =
        r#"{"type":"llm_set_budget_result","request_id":"1","budget":{"principal":"*","tokens_per_day":9}}"#;
    let ran = command(false, &[set], |c, s| run(c, &budget(Some("*"), Some(Tokens::Most(9))), s));
    assert_eq!(ran.printed, "everybody together may use 9 tokens a day\n");
    let ran = command(false, &[set], |c, s| run(c, &budget(Some("*"), Some(Tokens::Default)), s));
    assert_eq!(ran.asked, [r#"{"type":"llm_set_budget","request_id":"1","principal":"*"}"#]);
}
