//! Answers of language models: however the bytes are cut into reads, the events are the same, and an answer ends once.
//!
//! Input: dialect and framing, way of cutting; then the stream.

use harbor_ipc_proto::link::model::{Cause, Event};
use harbor_ipc_proto::model::{Dialect, Kind};
use harbor_model_worker::dialect::Framing;
use harbor_model_worker::stream::Stream;

use super::Target;
use super::input::{Input, pieces};

pub(super) const MODEL_STREAM: Target = Target {
    name: "model_stream",
    run: model_stream,
    corpus: &[
        b"\x00\x00data: {\"choices\":[{\"delta\":{\"content\":\"<think>a</think>b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        b"\x00\x03data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"t\",\"arguments\":\"{}\"}}]}}]}\n\ndata: [DONE]\n\n",
        b"\x00\x01data: {\"error\":{\"code\":500,\"message\":\"m\"}}\n\n",
        b"\x01\x02event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"t\",\"input\":{}}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        b"\x01\x00event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}\n\n",
        b"\x02\x01{\"message\":{\"content\":\"a\",\"tool_calls\":[{\"function\":{\"name\":\"t\",\"arguments\":{\"a\":1}}}]},\"done\":true}\n",
        b"\x02\x04{\"message\":{\"tool_calls\":[{\"function\":{\"index\":0,\"name\":\"t\",\"arguments\":\"{\"}}]}}\n{\"error\":\"m\"}\n",
        b"\x03\x00{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}",
        // No objects where there should be some.
        b"\x04\x00[7]",
        b"\x01\x00data: {\"type\":\"message_start\",\"message\":\"m\"}\n\n",
        b"\x05\x00data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"t\",\"arguments\":\"\"}}\n\ndata: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"{}\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
        b"\x05\x02event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"m\"}\n\n",
        b"\x06\x00{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"output\":[{\"type\":\"reasoning\",\"encrypted_content\":\"x\"},7]}",
        b"\x07\x00data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true},{\"functionCall\":{\"name\":\"t\",\"args\":{\"a\":1}},\"thoughtSignature\":\"s\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1}}\n\n",
        b"\x07\x03data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n",
        b"\x08\x00[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thoughtSignature\":\"s\"}]}}]},{\"candidates\":[{\"finishReason\":\"MAX_TOKENS\"}]}]",
        b"\x00\x01data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\ude00\"},\"finish_reason\":\"stop\"}]}\n\n",
        b"\x04\x00{\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"t\",\"input\":{\"a\":1}}],\"stop_reason\":\"max_tokens\"}",
    ],
};

const WAYS: &[(Dialect, Framing)] = &[
    (Dialect::Chat, Framing::Events),
    (Dialect::Anthropic, Framing::Events),
    (Dialect::Ollama, Framing::Lines),
    (Dialect::Chat, Framing::Whole),
    (Dialect::Anthropic, Framing::Whole),
    (Dialect::Responses, Framing::Events),
    (Dialect::Responses, Framing::Whole),
    (Dialect::Gemini, Framing::Events),
    (Dialect::Gemini, Framing::Whole),
];

fn model_stream(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (way, cut) = (input.choose(WAYS), input.byte());
    let stream = input.rest().to_vec();
    let whole = read(way, std::iter::once(stream.as_slice()));
    assert_eq!(read(way, pieces(&stream, cut)), whole, "cut another way, other events came out");
    let ends = whole.0.iter().filter(|event| matches!(event, Event::End { .. })).count();
    assert_eq!(ends, usize::from(whole.1.is_none()), "one end, or a failure");
}

fn read<'a>(
    (dialect, framing): (Dialect, Framing),
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Event>, Option<Cause>) {
    let mut stream = Stream::new(dialect, Kind::DeepSeek, framing, &[], "n".into());
    let mut fed = Ok(());
    for piece in pieces {
        fed = fed.and_then(|()| stream.feed(piece));
    }
    let fed = fed.and_then(|()| stream.end());
    (stream.answer.take(), fed.err().map(|failure| failure.cause))
}
