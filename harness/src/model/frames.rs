//! CODEC-3: a compressed artifact as a list of frames.

const MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();

/// How the bytes of an artifact end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Behind a complete frame.
    Clean,
    /// Inside a structurally incomplete frame.
    Torn,
    /// At something that no torn write leaves.
    Corrupt,
}

/// The decoded text of the frames up to the end or the first defect.
pub(crate) struct Frames {
    /// The contents of the complete frames.
    pub(crate) complete: Vec<Vec<u8>>,
    /// What could be decoded of a torn frame.
    pub(crate) torn: Vec<u8>,
    pub(crate) end: End,
}

/// What stands at a place where a frame should start.
enum Shape {
    /// A structurally complete frame of this many bytes.
    Complete(usize),
    Incomplete,
    /// A bad magic or a reserved bit.
    Bad,
}

/// Cuts and decodes. `search` is the look for complete frames behind a torn one, which the released reader lacks.
pub(crate) fn decode(bytes: &[u8], search: bool) -> Frames {
    let mut frames = Frames { complete: Vec::new(), torn: Vec::new(), end: End::Clean };
    let mut rest = bytes;
    while !rest.is_empty() {
        match shape(rest) {
            Shape::Complete(length) => {
                let (text, whole) = decompress(&rest[..length]);
                if !whole {
                    frames.end = End::Corrupt;
                    return frames;
                }
                frames.complete.push(text);
                rest = &rest[length..];
            }
            Shape::Incomplete if search && holds_frame(&rest[1..]) => {
                frames.end = End::Corrupt;
                return frames;
            }
            Shape::Incomplete => {
                frames.torn = decompress(rest).0;
                frames.end = End::Torn;
                return frames;
            }
            Shape::Bad => {
                frames.end = End::Corrupt;
                return frames;
            }
        }
    }
    frames
}

/// Whether a complete frame that decodes starts anywhere in these bytes.
fn holds_frame(bytes: &[u8]) -> bool {
    (0..bytes.len()).any(|start| match shape(&bytes[start..]) {
        Shape::Complete(length) => decompress(&bytes[start..start + length]).1,
        Shape::Incomplete | Shape::Bad => false,
    })
}

/// Walks header, blocks and checksum as RFC 8878 lays them out; nothing is decoded.
fn shape(bytes: &[u8]) -> Shape {
    // Fewer than four bytes are a torn frame start, whatever they are.
    if bytes.len() < 4 {
        return Shape::Incomplete;
    }
    if bytes[..4] != MAGIC {
        return Shape::Bad;
    }
    let Some(descriptor) = bytes.get(4) else { return Shape::Incomplete };
    if descriptor & 0b1000 != 0 {
        return Shape::Bad;
    }
    let single_segment = descriptor & 0b10_0000 != 0;
    let checksum = if descriptor & 0b100 != 0 { 4 } else { 0 };
    let window = usize::from(!single_segment);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 0b11)];
    let size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let mut place = 5 + window + dictionary + size;
    loop {
        let Some(header) = bytes.get(place..place + 3) else { return Shape::Incomplete };
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let length = header >> 3;
        place += 3 + match header >> 1 & 0b11 {
            // A run-length block stores one byte.
            1 => 1,
            // The fourth block type is reserved.
            3 => return Shape::Bad,
            _ => length as usize,
        };
        if header & 1 == 1 {
            break;
        }
    }
    place += checksum;
    if place <= bytes.len() { Shape::Complete(place) } else { Shape::Incomplete }
}

/// Everything that can be decoded of one frame, and whether that was all of it.
fn decompress(frame: &[u8]) -> (Vec<u8>, bool) {
    use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};
    let mut text = Vec::new();
    let Ok(mut decoder) = Decoder::new() else { return (text, false) };
    let mut buffer = vec![0; 1 << 18];
    let mut rest = frame;
    loop {
        // A call that fails gives nothing, not even what came before the failure: so one byte goes in at a time.
        let (head, tail) = rest.split_at(rest.len().min(1));
        let mut input = InBuffer::around(head);
        let mut output = OutBuffer::around(&mut buffer[..]);
        match decoder.run(&mut input, &mut output) {
            Err(_) => return (text, false),
            Ok(hint) => {
                text.extend_from_slice(output.as_slice());
                if hint == 0 {
                    return (text, true);
                }
                if head.is_empty() && output.as_slice().is_empty() {
                    return (text, false);
                }
            }
        }
        rest = if input.pos == 1 { tail } else { rest };
    }
}
