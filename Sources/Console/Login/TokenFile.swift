package import ControlProtocol
import Crypto
package import JSON

/// The file of personal tokens. It contains the hashes of the tokens.
package struct TokenFile: Sendable, Hashable {
    package static let bytesMax = 256 << 10
    /// Maximum number of tokens.
    package static let tokensMax = 1000

    package struct Token: Sendable, Hashable {
        package var name: String
        package var role: OperatorRole
        /// The SHA-256 hash of the token, as hexadecimal text.
        package var hash: String
        /// The end of the validity in UNIX milliseconds; nil for a token that does not expire.
        package var expires: Int64?

        package init(name: String, role: OperatorRole, hash: String, expires: Int64? = nil) {
            (self.name, self.role, self.hash, self.expires) = (name, role, hash, expires)
        }
    }

    package var tokens: [Token] = []

    package init() {}

    /// Returns the valid token with a hash.
    ///
    /// - Parameter now: UNIX milliseconds.
    func token(hash: String, at now: Int64) -> Token? {
        tokens.first { $0.hash == hash && ($0.expires.map { $0 > now } ?? true) }
    }
}

extension TokenFile {
    private static let codec = ObjectCodec(
        "a file of tokens", from: Self(),
        [.required("tokens", \.tokens, .list(of: Token.codec.value, "a token"))],
        check: { file, members throws(InputError) in
            guard file.tokens.count <= tokensMax else {
                throw members.error("tokens", "must have at most \(tokensMax) elements")
            }
        })

    /// Reads a file.
    ///
    /// - Throws: an error that states why the file is invalid, and contains no value of the file.
    package init(json bytes: [UInt8]) throws(InputError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(bytes, limits: JSONLimits(bytesMax: Self.bytesMax, depthMax: 8))
        } catch {
            throw InputError("the file of tokens is not JSON, at \(error)")
        }
        self = try Self.codec.read(document.root)
    }

    package var json: [UInt8] {
        var json = JSONWriter()
        Self.codec.write(self, to: &json)
        return json.bytes + [UInt8(ascii: "\n")]
    }
}

extension TokenFile.Token {
    fileprivate static let codec = ObjectCodec(
        "a token", from: Self(name: "-", role: .view, hash: ""),
        [
            .required("name", \.name, .text(1...FleetLimits.byBytesMax)),
            .required("role", \.role, .word),
            .required(
                "sha256", \.hash,
                ValueCodec<String>.text.checked("64 lower-case hexadecimal digits") {
                    $0.utf8.count == Secret.characters && $0.utf8.allSatisfy(Secret.isDigit)
                }),
            .optional("expires", \.expires, .int(FleetLimits.times)),
        ])
}
