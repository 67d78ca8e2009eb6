//! Compressing a log: the header line as a frame of its own, the rest as one batch (CODEC-3).

use std::io;

/// The log as Zstandard frames with checksums.
pub(crate) fn compress(log: &[u8], has_header: bool) -> io::Result<Vec<u8>> {
    let header = match has_header {
        true => log.iter().position(|byte| *byte == b'\n').map_or(log.len(), |end| end + 1),
        false => 0,
    };
    let mut out = Vec::new();
    for part in [&log[..header], &log[header..]].into_iter().filter(|part| !part.is_empty()) {
        let mut compressor = zstd::bulk::Compressor::new(1)?;
        compressor.include_checksum(true)?;
        out.extend_from_slice(&compressor.compress(part)?);
    }
    Ok(out)
}
