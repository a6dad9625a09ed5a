//! The kernel's instructions for a list of rules.
//!
//! ```text
//!        ld  instruction set; jeq NATIVE, 1, 0; ret EPERM
//!        ld  number;          jge X32, 0, 1;    ret EPERM      (x86_64 only)
//!  rule: jeq NUMBER, 0, past the rule
//!  case:   { ld word; and MASK; jeq VALUE, on, past the case } for each test;  ret the case's answer
//!          …
//!          ret the rule's answer
//!        …
//!        ret allow
//! ```
//!
//! Jumps go forward, by counts made here, and never out of a rule but to the next one. The number is loaded only once, since
//! every other load ends in an answer. Owns the encoding. Must never know which calls are refused.

use std::io;

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, c_long, sock_filter,
};
use nix::errno::Errno;

/// The kernel's name for this instruction set (AUDIT_ARCH_*): the machine of ELF, 64 bits, little-endian.
#[cfg(target_arch = "x86_64")]
pub(super) const NATIVE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
pub(super) const NATIVE: u32 = 0xC000_00B7;

/// Numbers from here on are x32's, whose instruction set is the native one to the kernel. No other number is as
/// high.
const X32: u32 = 0x4000_0000;

/// The offset of the call's number in the kernel's `struct seccomp_data`.
const NUMBER: u32 = 0;
const INSTRUCTION_SET: u32 = 4;
const ARGUMENTS: u32 = 16;

/// The answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Allow,
    /// The call fails with this error.
    Refuse(Errno),
    /// It does nothing, and looks as if it had been done.
    Pretend,
    /// The call waits until the runner has answered (see `sandbox::calls`).
    Ask,
}

/// A test of one half of an argument. The kernel takes an `int` from the lower half and ignores the other one; so does a
/// test of it. A pointer takes a test for each half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Test {
    /// The half, as its index in the kernel's data about a call.
    word: u32,
    mask: u32,
    value: u32,
    /// True if the half is to have that value, false if it is to have another one.
    equal: bool,
}

impl Test {
    /// The lower half of this argument has this value.
    pub(super) fn is(argument: u32, value: u32) -> Self {
        Self::masked(argument, u32::MAX, value)
    }

    /// The lower half has another value.
    pub(super) fn is_not(argument: u32, value: u32) -> Self {
        Self { equal: false, ..Self::is(argument, value) }
    }

    /// The lower half has this value in the bits of `mask`.
    pub(super) fn masked(argument: u32, mask: u32, value: u32) -> Self {
        Self { word: ARGUMENTS + 8 * argument, mask, value, equal: true }
    }

    /// The lower half has at least one of these bits.
    pub(super) fn any_of(argument: u32, bits: u32) -> Self {
        Self { equal: false, ..Self::masked(argument, bits, 0) }
    }

    /// This test, of the higher half.
    pub(super) fn higher(self) -> Self {
        Self { word: self.word + 4, ..self }
    }
}

/// An answer for calls that pass all tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) tests: Vec<Test>,
    pub(super) answer: Answer,
}

/// The answers to calls with this number: that of the first case that holds, otherwise the rule's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeccompRule {
    pub(super) number: c_long,
    pub(super) cases: Vec<Case>,
    pub(super) otherwise: Answer,
}

const LOAD: u32 = BPF_LD | BPF_W | BPF_ABS;
const IF_EQUAL: u32 = BPF_JMP | BPF_JEQ | BPF_K;
const IF_NOT_BELOW: u32 = BPF_JMP | BPF_JGE | BPF_K;
const MASK: u32 = BPF_ALU | BPF_AND | BPF_K;
const RETURN: u32 = BPF_RET | BPF_K;

/// Instructions of a test.
const TEST: usize = 3;

/// The program that answers every call by these rules.
///
/// # Errors
/// When a rule is longer than a jump can be.
pub(super) fn assemble(rules: &[SeccompRule]) -> io::Result<Vec<sock_filter>> {
    let refused = answer(Answer::Refuse(Errno::EPERM));
    let mut program = vec![plain(LOAD, INSTRUCTION_SET), jump(IF_EQUAL, NATIVE, 1, 0)?, refused];
    program.push(plain(LOAD, NUMBER));
    if cfg!(target_arch = "x86_64") {
        program.extend([jump(IF_NOT_BELOW, X32, 0, 1)?, refused]);
    }
    for rule in rules {
        let body = body(rule)?;
        let number = u32::try_from(rule.number).map_err(io::Error::other)?;
        program.push(jump(IF_EQUAL, number, 0, body.len())?);
        program.extend(body);
    }
    program.push(answer(Answer::Allow));
    Ok(program)
}

fn body(rule: &SeccompRule) -> io::Result<Vec<sock_filter>> {
    let mut body = Vec::new();
    for case in &rule.cases {
        for (index, test) in case.tests.iter().enumerate() {
            // The tests that follow, and the answer.
            let past = (case.tests.len() - index - 1) * TEST + 1;
            let (equal, other) = if test.equal { (0, past) } else { (past, 0) };
            body.extend([plain(LOAD, test.word), plain(MASK, test.mask)]);
            body.push(jump(IF_EQUAL, test.value, equal, other)?);
        }
        body.push(answer(case.answer));
    }
    body.push(answer(rule.otherwise));
    Ok(body)
}

fn answer(answer: Answer) -> sock_filter {
    match answer {
        Answer::Allow => plain(RETURN, libc::SECCOMP_RET_ALLOW),
        Answer::Pretend => plain(RETURN, libc::SECCOMP_RET_ERRNO),
        Answer::Ask => plain(RETURN, libc::SECCOMP_RET_USER_NOTIF),
        Answer::Refuse(error) => plain(RETURN, libc::SECCOMP_RET_ERRNO | (error as i32).unsigned_abs()),
    }
}

fn plain(code: u32, k: u32) -> sock_filter {
    // All codes are below 256.
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Skips as many instructions as the outcome says.
fn jump(code: u32, k: u32, holds: usize, fails: usize) -> io::Result<sock_filter> {
    let distance = |length: usize| u8::try_from(length).map_err(io::Error::other);
    Ok(sock_filter { jt: distance(holds)?, jf: distance(fails)?, ..plain(code, k) })
}
