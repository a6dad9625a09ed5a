//! How this process's allocator treats large blocks.

/// Gives blocks over 128 KiB back to the system as soon as they are freed, so that one large answer does not
/// stay in memory for the rest of a process's life. Call it once, before threads exist.
pub fn return_large_blocks() {
    const THRESHOLD: libc::c_int = 128 * 1024;
    // SAFETY: mallopt only sets two numbers of the allocator; both options and values are documented as valid,
    // and no other thread exists yet.
    #[allow(unsafe_code)]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, THRESHOLD);
        libc::mallopt(libc::M_TRIM_THRESHOLD, THRESHOLD);
    }
}
