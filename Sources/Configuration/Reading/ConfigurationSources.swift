import Crypto

/// The versions of the files that a configuration names, except payload schemas, and a digest of all content that was
/// read.
///
/// `@unchecked Sendable`: only the thread that reads the configuration uses the object.
package final class ConfigurationSources: @unchecked Sendable {
    private let files = FileSources()
    /// Digest of the content that was read, in the order of reading.
    package private(set) var digest: [UInt8] = []

    package init() {}

    package var versions: [String: FileVersion] { files.versions }

    package func read(_ path: String) throws(ReferenceResolver.ReadFailure) -> [UInt8] {
        files.note(path)
        let bytes = try FileReader.bytes(of: path, bytesMax: ConfigurationFile.secretBytesMax)
        note(bytes)
        return bytes
    }

    package func note(_ bytes: [UInt8]) { digest = Digest.sha256(digest + Digest.sha256(bytes)) }
}
