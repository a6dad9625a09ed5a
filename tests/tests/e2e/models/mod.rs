//! Language models through the real bridge and the real model worker: at a scripted provider that speaks Chat Completions, at an
//! imitation of all formats, and at a real model in a real server.

mod budgets;
mod cancels;
mod chats;
mod commands;
mod counting;
mod deaths;
mod detecting;
mod engines;
mod imitations;
mod names;
mod ollama;
mod origins;
mod pages;
mod providers;
mod pulls;
mod real;
mod refusals;
mod scene;
mod transcribing;
mod windows;
