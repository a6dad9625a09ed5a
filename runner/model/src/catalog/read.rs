//! Lists of models as providers write them. Pure.

use harbor_ipc_proto::link::model::{Model, ModelState};
use serde_json::Value;

/// An id is no longer than this, in bytes.
const MAX_ID: usize = 512;

fn model(id: &str) -> Option<Model> {
    let fits = !id.is_empty() && id.len() <= MAX_ID && !id.chars().any(char::is_control);
    fits.then(|| Model {
        id: id.to_owned(),
        context_window: None,
        max_output: None,
        tools: None,
        vision: None,
        reasoning: None,
        is_remote: false,
        loaded_window: None,
        state: None,
        exit_code: None,
        weights: None,
        token_bytes: None,
    })
}

fn items<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// The first of these places that holds a number.
fn number(value: &Value, places: &[&str]) -> Option<u32> {
    places.iter().find_map(|place| u32::try_from(value.pointer(place)?.as_u64()?).ok()).filter(|n| *n > 0)
}

/// The first of these places that says yes or no, in one of the ways there are.
fn yes_or_no(value: &Value, places: &[&str]) -> Option<bool> {
    places.iter().find_map(|place| {
        let said = value.pointer(place)?;
        said.as_bool().or_else(|| said.get("supported")?.as_bool())
    })
}

/// True if the list at `place` has one of `words`; none where there is no list.
fn names(value: &Value, place: &str, words: &[&str]) -> Option<bool> {
    let list = value.pointer(place)?.as_array()?;
    Some(list.iter().filter_map(Value::as_str).any(|word| words.contains(&word)))
}

/// A list of models: `{data:[…]}`, `{models:[…]}` or a bare list, of objects with what each provider adds (Anthropic,
/// OpenRouter, Mistral, Groq, vLLM, llama-server) or of names alone. None if it is no list.
pub fn list(value: &Value) -> Option<Vec<Model>> {
    let list = ["data", "models"].iter().find_map(|name| value.get(*name)?.as_array());
    let list = list.or_else(|| value.as_array())?;
    Some(list.iter().filter_map(entry).collect())
}

fn entry(entry: &Value) -> Option<Model> {
    let name = ["id", "name", "model"].iter().find_map(|name| entry.get(*name)?.as_str());
    let known = model(name.or_else(|| entry.as_str())?)?;
    let parameters = |words| names(entry, "/supported_parameters", words);
    Some(Model {
        context_window: number(
            entry,
            &[
                "/max_input_tokens",
                "/context_length",
                "/context_window",
                "/max_context_length",
                "/max_model_len",
                "/meta/n_ctx",
                "/meta/n_ctx_train",
            ],
        ),
        max_output: number(
            entry,
            &["/max_tokens", "/max_completion_tokens", "/top_provider/max_completion_tokens"],
        ),
        tools: parameters(&["tools"])
            .or_else(|| yes_or_no(entry, &["/capabilities/function_calling", "/capabilities/tools"]))
            .or_else(|| names(entry, "/labels", &["tool-calling"])),
        vision: names(entry, "/architecture/input_modalities", &["image"])
            .or_else(|| yes_or_no(entry, &["/capabilities/vision", "/capabilities/image_input"]))
            .or_else(|| names(entry, "/labels", &["vision"])),
        reasoning: parameters(&["reasoning"])
            .or_else(|| yes_or_no(entry, &["/capabilities/reasoning", "/capabilities/thinking"]))
            .or_else(|| names(entry, "/labels", &["reasoning"])),
        state: state(entry),
        exit_code: entry
            .pointer("/status/exit_code")
            .and_then(Value::as_i64)
            .and_then(|code| i32::try_from(code).ok()),
        ..known
    })
}

/// The state of a model of llama-server's router: `status: {value, failed?, exit_code?}`.
fn state(entry: &Value) -> Option<ModelState> {
    let status = entry.get("status")?;
    let failed = status.get("failed").and_then(Value::as_bool) == Some(true);
    match status.get("value").and_then(Value::as_str)? {
        "failed" => Some(ModelState::Failed),
        "loaded" => Some(ModelState::Loaded),
        "loading" | "downloading" => Some(ModelState::Loading),
        _ if failed => Some(ModelState::Failed),
        "unloaded" | "sleeping" => Some(ModelState::Unloaded),
        _ => None,
    }
}

/// Gemini's list: `{models:[{name:"models/…", inputTokenLimit, outputTokenLimit, supportedGenerationMethods, thinking}]}`. None
/// if it is no list. Models that answer nothing are left out.
pub fn gemini(value: &Value) -> Option<Vec<Model>> {
    // A project without models has an empty object.
    let none = Vec::new();
    let list = value.as_object()?.get("models").map_or(Some(&none), Value::as_array)?;
    let answers =
        |entry: &&Value| names(entry, "/supportedGenerationMethods", &["generateContent"]) != Some(false);
    let read = |entry: &Value| {
        let name = entry.get("name")?.as_str()?;
        Some(Model {
            context_window: number(entry, &["/inputTokenLimit"]),
            max_output: number(entry, &["/outputTokenLimit"]),
            reasoning: yes_or_no(entry, &["/thinking"]),
            ..model(name.strip_prefix("models/").unwrap_or(name))?
        })
    };
    Some(list.iter().filter(answers).filter_map(read).collect())
}

/// LM Studio's own list: `{models:[{key, type, max_context_length, capabilities}]}`.
pub fn lm_studio(value: &Value) -> Vec<Model> {
    let chats =
        items(value, "models").filter(|entry| entry.get("type").is_none_or(|kind| kind != "embedding"));
    let read = |entry: &Value| {
        Some(Model {
            // What is loaded has the window that it was loaded with.
            context_window: number(
                entry,
                &["/loaded_instances/0/config/context_length", "/max_context_length"],
            ),
            tools: yes_or_no(entry, &["/capabilities/trained_for_tool_use"]),
            vision: yes_or_no(entry, &["/capabilities/vision"]),
            ..model(entry.get("key")?.as_str()?)?
        })
    };
    chats.filter_map(read).collect()
}

/// Reads llama-server's `/props`: facts about a model that it runs. The window is that of one slot.
pub fn props(value: &Value, model: &mut Model) {
    model.vision = yes_or_no(value, &["/modalities/vision"]).or(model.vision);
    model.tools = yes_or_no(value, &["/chat_template_caps/supports_tools"]).or(model.tools);
    let window = number(value, &["/default_generation_settings/n_ctx", "/n_ctx"]);
    model.context_window = window.or(model.context_window);
}

/// Ollama's list: `{models:[{name, remote_model?, remote_host?}]}`.
pub fn tags(value: &Value) -> Vec<Model> {
    let says =
        |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).is_some_and(|it| !it.is_empty());
    let read = |entry: &Value| {
        let known = model(entry.get("name").or_else(|| entry.get("model"))?.as_str()?)?;
        let weights = entry.get("size").and_then(Value::as_u64).filter(|size| *size > 0);
        Some(Model { is_remote: says(entry, "remote_model") || says(entry, "remote_host"), weights, ..known })
    };
    items(value, "models").filter_map(read).collect()
}

/// Reads which models Lemonade has in memory, and with which window:
/// `{all_models_loaded:[{model_name, recipe_options:{ctx_size}}]}`.
pub fn lemonade(health: &Value, models: &mut [Model]) {
    for entry in items(health, "all_models_loaded") {
        let name = entry.get("model_name").and_then(Value::as_str);
        if let Some(model) = models.iter_mut().find(|model| Some(model.id.as_str()) == name) {
            model.state = Some(ModelState::Loaded);
            model.context_window = number(entry, &["/recipe_options/ctx_size"]).or(model.context_window);
        }
    }
}

/// Reads which models Ollama has in memory, and with which window: `{models:[{name, context_length}]}`.
pub fn running(value: &Value, models: &mut [Model]) {
    for entry in items(value, "models") {
        let name = entry.get("name").or_else(|| entry.get("model")).and_then(Value::as_str);
        if let Some(model) = models.iter_mut().find(|model| Some(model.id.as_str()) == name) {
            model.state = Some(ModelState::Loaded);
            model.loaded_window = number(entry, &["/context_length"]);
        }
    }
}

/// True if Ollama has this model in memory; none where that is no such answer.
pub fn names_one(value: &Value, model: &str) -> Option<bool> {
    value.get("models")?.as_array()?;
    let mut names = items(value, "models").filter_map(|entry| entry.get("name")?.as_str());
    Some(names.any(|name| name == model || name.strip_suffix(":latest") == Some(model)))
}

/// Reads Ollama's answer about one model: `{capabilities:[…], model_info:{"….context_length"}}`.
pub fn show(value: &Value, model: &mut Model) {
    let can = |word: &str| names(value, "/capabilities", &[word]);
    (model.tools, model.vision, model.reasoning) = (can("tools"), can("vision"), can("thinking"));
    let info = value.get("model_info").and_then(Value::as_object).into_iter().flatten();
    let window = info.filter(|(name, _)| name.ends_with(".context_length")).find_map(|(_, it)| it.as_u64());
    model.context_window = window.and_then(|window| u32::try_from(window).ok());
    let is_elsewhere =
        ["remote_model", "remote_host"].iter().any(|name| value.get(*name).is_some_and(|it| it != ""));
    model.is_remote |= is_elsewhere;
    model.token_bytes = value.get("model_info").and_then(token_bytes);
}

/// The memory that one token of the window takes: keys and values of each layer, two bytes a number.
fn token_bytes(info: &Value) -> Option<u64> {
    let field = |end: &str| {
        let mut fields = info.as_object()?.iter();
        fields.find_map(|(name, value)| name.strip_suffix(end)?.strip_suffix('.').map(|_| value))
    };
    let number = |end: &str| field(end).and_then(Value::as_u64);
    let layers = number("block_count")?;
    let all = number("attention.head_count").or(number("attention.head_count_kv"));
    let heads = match field("attention.head_count_kv") {
        // Some have another number in each layer.
        Some(Value::Array(each)) => each.iter().filter_map(Value::as_u64).fold(0, u64::saturating_add),
        Some(value) => value.as_u64().or(all)?.checked_mul(layers)?,
        None => all?.checked_mul(layers)?,
    };
    let usual = || number("embedding_length")?.checked_div(all?);
    let key = number("attention.key_length").or_else(usual)?;
    let value = number("attention.value_length").or_else(usual)?;
    heads.checked_mul(key.checked_add(value)?)?.checked_mul(2).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn known(id: &str) -> Model {
        model(id).unwrap()
    }

    #[test]
    fn lists_are_read_as_providers_write_them() {
        let all = json!({"data": [
            {"id": "bare"}, {"id": ""}, {"id": 7}, "x", [],
            {"id": "anthropic", "max_input_tokens": 9, "max_tokens": 3,
             "capabilities": {"image_input": {"supported": true}, "thinking": {"supported": false}}},
            {"id": "router", "context_length": 9, "supported_parameters": ["tools"],
             "architecture": {"input_modalities": ["text"]}, "top_provider": {"max_completion_tokens": 2}},
            {"id": "mistral", "max_context_length": 9, "capabilities": {"function_calling": true, "vision": false}},
            {"id": "vllm", "max_model_len": 9}, {"id": "llama", "meta": {"n_ctx": 9}},
        ]});
        let nine = |id: &str| Model { context_window: Some(9), ..known(id) };
        let wanted = [
            known("bare"),
            known("x"),
            Model { max_output: Some(3), vision: Some(true), reasoning: Some(false), ..nine("anthropic") },
            Model {
                max_output: Some(2),
                tools: Some(true),
                vision: Some(false),
                reasoning: Some(false),
                ..nine("router")
            },
            Model { tools: Some(true), vision: Some(false), ..nine("mistral") },
            nine("vllm"),
            nine("llama"),
        ];
        assert_eq!(list(&all), Some(wanted.into()));
        let two = Some(vec![known("a"), known("b")]);
        for shape in
            [json!([{"id": "a"}, {"name": "b"}]), json!({"models": ["a", {"model": "b"}]}), json!(["a", "b"])]
        {
            assert_eq!(list(&shape), two, "{shape}");
        }
        assert_eq!(list(&json!([])), Some(vec![]));
        for none in [json!({}), json!({"data": {}}), json!(7), json!(null)] {
            assert_eq!(list(&none), None, "{none}");
        }
    }

    #[test]
    fn googles_list_has_the_models_that_answer() {
        let all = json!({"models": [
            {"name": "models/gemini-3", "inputTokenLimit": 9, "outputTokenLimit": 3, "thinking": true,
             "supportedGenerationMethods": ["generateContent", "countTokens"]},
            {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
            {"name": "tunedModels/mine"}, {"version": "001"},
        ]});
        let wanted = Model {
            context_window: Some(9),
            max_output: Some(3),
            reasoning: Some(true),
            ..known("gemini-3")
        };
        assert_eq!(gemini(&all), Some(vec![wanted, known("tunedModels/mine")]));
        assert_eq!(
            (gemini(&json!({})), gemini(&json!([])), gemini(&json!({"models": 7}))),
            (Some(vec![]), None, None)
        );
    }

    #[test]
    fn local_servers_tell_what_they_can_do() {
        let mut models = tags(&json!({"models": [{"name": "a"}, {"name": "b", "remote_host": "https://x"}]}));
        show(&json!({"capabilities": ["tools"], "model_info": {"llama.context_length": 9}}), &mut models[0]);
        let wanted = [
            Model {
                context_window: Some(9),
                tools: Some(true),
                vision: Some(false),
                reasoning: Some(false),
                ..known("a")
            },
            Model { is_remote: true, ..known("b") },
        ];
        assert_eq!(models, wanted);
        let mut llama = known("l");
        let said = json!({"modalities": {"vision": true}, "chat_template_caps": {"supports_tools": false},
            "default_generation_settings": {"n_ctx": 9}});
        props(&said, &mut llama);
        assert_eq!(
            llama,
            Model { context_window: Some(9), tools: Some(false), vision: Some(true), ..known("l") }
        );
        let studio = json!({"models": [{"key": "s", "max_context_length": 9, "type": "llm",
            "capabilities": {"vision": false, "trained_for_tool_use": true}}, {"key": "e", "type": "embedding"}]});
        let wanted = Model { context_window: Some(9), tools: Some(true), vision: Some(false), ..known("s") };
        assert_eq!(lm_studio(&studio), [wanted]);
    }

    #[test]
    fn lemonade_labels_its_models_and_says_which_are_loaded() {
        let mut models = list(&json!({"data": [
            {"id": "a", "owned_by": "lemonade", "labels": ["vision", "tool-calling"]}, {"id": "b", "owned_by": "lemonade"}]})).unwrap();
        let loaded = json!({"all_models_loaded": [{"model_name": "a", "recipe_options": {"ctx_size": 4096}}, {"model_name": 7}]});
        lemonade(&loaded, &mut models);
        let wanted = Model {
            context_window: Some(4096),
            tools: Some(true),
            vision: Some(true),
            reasoning: Some(false),
            state: Some(ModelState::Loaded),
            ..known("a")
        };
        assert_eq!(models, [wanted, known("b")]);
    }

    #[test]
    fn a_router_says_of_each_model_whether_it_is_loaded() {
        let of = |status: Value| {
            let read = list(&json!({"data": [{"id": "m", "status": status}]})).unwrap().remove(0);
            (read.state, read.exit_code)
        };
        assert_eq!(of(json!({"value": "loaded", "args": ["-c", "9"]})), (Some(ModelState::Loaded), None));
        assert_eq!(of(json!({"value": "sleeping"})), (Some(ModelState::Unloaded), None));
        assert_eq!(of(json!({"value": "downloading"})), (Some(ModelState::Loading), None));
        let failed = (Some(ModelState::Failed), Some(-9));
        assert_eq!(of(json!({"value": "unloaded", "failed": true, "exit_code": -9})), failed);
        assert_eq!(of(json!({"value": "failed", "exit_code": -9})), failed);
        assert_eq!(of(json!("loaded")), (None, None));
    }

    #[test]
    fn ollama_says_how_a_model_is_built_and_with_what_it_is_loaded() {
        let mut models = tags(&json!({"models": [{"name": "a", "size": 7}, {"name": "b"}]}));
        running(&json!({"models": [{"name": "a", "context_length": 4096}, {"name": "c"}, 7]}), &mut models);
        let loaded = |model: &Model| (model.state, model.loaded_window, model.weights);
        assert_eq!(loaded(&models[0]), (Some(ModelState::Loaded), Some(4096), Some(7)));
        assert_eq!(loaded(&models[1]), (None, None, None));
        let in_memory = json!({"models": [{"name": "a:latest"}]});
        assert_eq!([names_one(&in_memory, "a"), names_one(&in_memory, "b")], [Some(true), Some(false)]);
        assert_eq!(names_one(&json!({"error": "no"}), "a"), None);
        let llama = json!({"llama.block_count": 32, "llama.attention.head_count": 32, "llama.attention.head_count_kv": 8,
            "llama.embedding_length": 4096});
        assert_eq!(token_bytes(&llama), Some(131_072));
        let gemma = json!({"gemma3.block_count": 2, "gemma3.attention.head_count_kv": [1, 3],
            "gemma3.attention.key_length": 256, "gemma3.attention.value_length": 128});
        assert_eq!(token_bytes(&gemma), Some(4 * 384 * 2));
        for none in [json!({}), json!({"x.block_count": 2}), json!([])] {
            assert_eq!(token_bytes(&none), None, "{none}");
        }
    }
}
