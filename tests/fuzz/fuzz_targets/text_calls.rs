#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (harbor_tests::fuzz::target("text_calls").run)(bytes));
