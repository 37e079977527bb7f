/// The detection of a compression in `content-encoding`.
///
/// Producers also write other values. For example, kombu writes `binary`, and other clients write a character set. A
/// JSON parser can ignore such values.
package enum ContentCoding {
    /// The names of compressions that IANA registers for HTTP, and other names in use.
    private static let compressions = [
        "gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "brotli", "dcb", "dcz", "zstd", "x-zstd", "zlib",
        "bzip2", "x-bzip2", "bz2", "lz4", "lzma", "xz", "snappy", "x-snappy-framed", "pack200-gzip", "exi",
    ]

    /// Returns the first compression in a list of codings; nil if the list has none.
    package static func compression(in encoding: String?) -> String? {
        guard let encoding, encoding != "utf-8" else { return nil }
        let codings = encoding.lowercased().split { ", ;\t".contains($0) }
        return codings.lazy.compactMap { coding in compressions.first { $0 == coding } }.first
    }

    /// Returns the violation of a body with this `content-encoding`; nil if a worker accepts the body.
    package static func violation(of encoding: String?) -> RequestViolation? {
        compression(in: encoding).map { name in
            RequestViolation(
                .property, "content-encoding",
                "The body is compressed according to content-encoding (\(name)): publish the body uncompressed, "
                    + "without content-encoding.")
        }
    }
}
