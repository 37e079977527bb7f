import Testing

@testable import Delivery

@Suite struct ContentCodingTests {
    // Names in IANA's registry of HTTP content codings, and other names that libraries write.
    @Test(arguments: [
        "aws-chunked", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd", "brotli", "zlib", "bzip2", "x-bzip2", "lz4", "xz", "snappy",
    ])
    func everyCompressionIsDetected(name: String) {
        // `aws-chunked` is a framing, not a compression.
        let expected = name == "aws-chunked" ? nil : name
        for text in [name, name.uppercased(), "identity, \(name)", "\(name);q=1"] {
            #expect(ContentCoding.compression(in: text) == expected, "\(text)")
        }
    }

    @Test(arguments: [nil, "", "utf-8", "UTF-8", "binary", "identity", "gzipped", "x-"])
    func otherValuesAreNoCompression(encoding: String?) {
        #expect(ContentCoding.compression(in: encoding) == nil)
    }

    @Test func theFirstOfSeveralCompressionsIsNamed() {
        #expect(ContentCoding.compression(in: "identity, br, gzip") == "br")
    }
}
