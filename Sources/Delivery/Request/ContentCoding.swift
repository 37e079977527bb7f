/// A compression that `content-encoding` names.
///
/// Producers write many other words there: kombu writes `binary`, others a character set. Those say nothing that a JSON
/// parser has to know.
package enum ContentCoding {
    /// Names of compressions: those that IANA registers for HTTP, and others in use.
    private static let compressions = [
        "gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "brotli", "dcb", "dcz", "zstd", "x-zstd", "zlib",
        "bzip2", "x-bzip2", "bz2", "lz4", "lzma", "xz", "snappy", "x-snappy-framed", "pack200-gzip", "exi",
    ]

    /// The first compression in a list of codings; `nil` when the body is as its producer wrote it.
    package static func compression(in encoding: String?) -> String? {
        guard let encoding, encoding != "utf-8" else { return nil }
        let codings = encoding.lowercased().split { ", ;\t".contains($0) }
        return codings.lazy.compactMap { coding in compressions.first { $0 == coding } }.first
    }

    /// Why a worker does not read a body with this `content-encoding`; `nil` when it does.
    package static func violation(of encoding: String?) -> RequestViolation? {
        compression(in: encoding).map { name in
            RequestViolation(
                .property, "content-encoding",
                "content-encoding says that the body is compressed (\(name)): publish the body uncompressed and leave "
                    + "content-encoding out.")
        }
    }
}
