//! Language models through the real bridge and the real model worker: at a scripted provider that speaks Chat Completions, and at a real
//! model in a real server.

mod budgets;
mod chats;
mod commands;
mod origins;
mod providers;
mod real;
mod scene;
