//! What a model answered goes back as it came, and what cannot be read is refused.

use super::*;

fn said(role: &str, content: &str) -> ChatMessage {
    let content = Some(Json::from_valid(content.to_owned()));
    ChatMessage { role: role.into(), content, toolCalls: None, toolCallId: None, isError: None }
}

fn text(text: &str) -> Part {
    Part::Text(text.into())
}

fn answered(events: &[Event], finish: Finish) -> ChatMessage {
    let mut answer = PartialAnswer::default();
    events.iter().for_each(|event| answer.take(event, "p", "m"));
    written(answer.message(finish))
}

fn call(id: &str) -> [Event; 2] {
    let (call_id, name) = (id.to_owned(), "now".to_owned());
    let arguments = r#"{"zone":"UTC"}"#.to_owned();
    [Event::ToolCallStart { call_id: call_id.clone(), name }, Event::ToolCallEnd { call_id, arguments }]
}

#[test]
fn the_systems_words_stand_first() {
    let all = vec![said("user", r#""hi""#), said("system", r#""be brief""#)];
    let wanted = [
        ModelMessage { role: Role::System, parts: vec![text("answer")] },
        ModelMessage { role: Role::System, parts: vec![text("be brief")] },
        ModelMessage { role: Role::User, parts: vec![text("hi")] },
    ];
    assert_eq!(messages(Some("answer"), all).unwrap(), wanted);
}

#[test]
fn an_answer_goes_back_as_it_came() {
    let opaque = Event::Opaque(r#"{"signature":"s"}"#.into());
    let thinks =
        [Event::Reasoning("hm".into()), opaque.clone(), Event::Text("a".into()), Event::Text("b".into())];
    let events = [&thinks[..], &call("1"), &[opaque], &call("2")].concat();
    let message = answered(&events, Finish::ToolCalls);
    let calls: Vec<_> = message.toolCalls.iter().flatten().map(|call| call.id.as_str()).collect();
    assert_eq!(calls, ["1", "2"]);
    let back = messages(None, vec![message]).unwrap();
    let opaque = || {
        Part::Opaque(Opaque { provider: "p".into(), model: "m".into(), json: r#"{"signature":"s"}"#.into() })
    };
    let call = |id: &str| {
        Part::ToolCall(ToolCall { id: id.into(), name: "now".into(), arguments: r#"{"zone":"UTC"}"#.into() })
    };
    let parts = vec![Part::Reasoning("hm".into()), opaque(), text("ab"), call("1"), opaque(), call("2")];
    assert_eq!(back, [ModelMessage { role: Role::Assistant, parts }]);
}

#[test]
fn a_text_alone_is_a_text_and_calls_that_may_not_be_run_are_not_told() {
    let words = [Event::Text("a".into()), Event::Text("b".into())];
    let message = answered(&words, Finish::Stop);
    assert_eq!((message.content, message.toolCalls), (Some(Json::string("ab")), None));
    let cut = answered(&[&words[..], &call("1")].concat(), Finish::Length);
    assert_eq!((cut.content, cut.toolCalls), (Some(Json::string("ab")), None));
    let only_a_call = answered(&call("1"), Finish::ToolCalls);
    assert_eq!((only_a_call.content, only_a_call.toolCalls.map(|calls| calls.len())), (None, Some(1)));
    assert_eq!(answered(&[], Finish::Stop).content, Some(Json::string("")));
}

#[test]
fn a_result_belongs_to_its_call_by_name() {
    let asks = answered(&call("1"), Finish::ToolCalls);
    let result =
        ChatMessage { toolCallId: Some("1".into()), isError: Some(true), ..said("tool", r#""late""#) };
    let back = messages(None, vec![asks, result.clone()]).unwrap();
    let wanted = ToolResult {
        call_id: "1".into(),
        name: "now".into(),
        text: "late".into(),
        images: Vec::new(),
        is_error: true,
    };
    assert_eq!(back[1], ModelMessage { role: Role::Tool, parts: vec![Part::ToolResult(wanted)] });
    assert!(messages(None, vec![ChatMessage { toolCallId: None, ..result }]).is_err());
}

#[test]
fn what_cannot_be_read_is_refused() {
    for (role, content) in [
        ("owner", r#""hi""#),
        ("user", "7"),
        ("user", r#"[{"type":"image","mediaType":"image/png"}]"#),
        ("user", r#"[{"type":"image","mediaType":"image/png","data":"https://example.com/cat.png"}]"#),
        ("user", r#"[{"type":"image_url","text":"x"}]"#),
        ("user", r#"[{"type":"tool_call","callId":"7"}]"#),
        ("user", r#"[{"type":"reasoning","text":"x"}]"#),
    ] {
        let error = messages(None, vec![said(role, content)]).unwrap_err();
        assert!(error.message.contains("messages"), "{content}: {}", error.message);
        assert!(!error.message.contains("cat.png"), "{}", error.message);
    }
    assert!(messages(None, Vec::new()).is_err());
}

#[test]
fn what_is_used_is_the_providers_word_or_an_estimate() {
    let mut answer = PartialAnswer::default();
    answer.take(&Event::Text("x".repeat(30)), "p", "m");
    let estimated = answer.used(7, None);
    assert_eq!((estimated.input, estimated.output, estimated.exactness), (7, 10, Exactness::Estimated));
    let usage =
        Usage { input_tokens: Some(5), output_tokens: Some(3), cached_tokens: Some(2), ..Usage::default() };
    answer.take(&Event::Usage(usage), "p", "m");
    let cost = Cost { microdollars: 0, unpriced: 0 };
    let exact =
        TokenUsage { input: 5, output: 3, cached: 2, reasoning: 0, exactness: Exactness::Exact, cost };
    assert_eq!(answer.used(7, Some(Price::FREE)), exact);
}
