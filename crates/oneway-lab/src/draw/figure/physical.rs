//! The size of a PNG on paper: its `pHYs` chunk, so that documents include it as large as it was asked for.

/// A PNG that says how many of its pixels are an inch; `None` if it is no PNG.
pub(super) fn with_density(png: &[u8], dpi: f64) -> Option<Vec<u8>> {
    const HEADER: usize = 8 + 4 + 4 + 13 + 4; // signature, and IHDR: length, type, data, checksum
    if !png.starts_with(b"\x89PNG\r\n\x1a\n") || png.get(12..16)? != b"IHDR" {
        return None;
    }
    let per_metre = (dpi / 0.0254).round() as u32;
    let mut chunk = b"pHYs".to_vec();
    chunk.extend(per_metre.to_be_bytes());
    chunk.extend(per_metre.to_be_bytes());
    chunk.push(1); // the unit is the metre
    let mut out = png.get(..HEADER)?.to_vec();
    out.extend(9_u32.to_be_bytes());
    out.extend(&chunk);
    out.extend(checksum(&chunk).to_be_bytes());
    out.extend(&png[HEADER..]);
    Some(out)
}

/// The CRC-32 of a chunk's type and data (ISO 3309).
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_says_its_density() {
        assert_eq!(checksum(b"IEND"), 0xae42_6082, "as at the end of every PNG");
        assert_eq!(with_density(b"no png", 300.0), None);
        let png = resvg::tiny_skia::Pixmap::new(3, 2).unwrap().encode_png().unwrap();
        let dense = with_density(&png, 300.0).unwrap();
        assert_eq!(&dense[37..41], b"pHYs");
        assert_eq!(dense[41..45], 11811_u32.to_be_bytes());
        assert_eq!(resvg::tiny_skia::Pixmap::decode_png(&dense).unwrap().width(), 3);
    }
}
