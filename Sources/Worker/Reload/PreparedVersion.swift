import Configuration
import Crypto

/// A configuration version with its components. Two versions with equal contents are distinct.
struct PreparedVersion: Equatable, Sendable {
    let version: ConfigurationVersion
    let components: WorkerComponents

    /// Reads certificates and prepares TLS, which can block.
    ///
    /// - Throws: if a key or certificate is invalid.
    init(_ version: ConfigurationVersion) throws(CryptoError) {
        self.version = version
        components = try WorkerComponents(version.configuration)
    }

    var configuration: WorkerConfiguration { version.configuration }

    static func == (one: PreparedVersion, other: PreparedVersion) -> Bool { one.version === other.version }
}
