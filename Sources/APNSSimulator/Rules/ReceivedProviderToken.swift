import APNSProtocol
import Crypto
import JSON

/// A verified provider token: a JSON Web Token signed with ES256 (Apple, "Establishing a token-based connection to
/// APNs").
///
/// Verification does not check the token's age, because the age changes during a connection.
struct ReceivedProviderToken {
    /// Maximum bytes of a token. Typical tokens have about 200 bytes.
    static let bytesMax = 4096

    /// The key that signed the token.
    var key: RegisteredKey
    var issuedAtSeconds: Int64

    /// Returns the text after `bearer ` in the value of an `authorization` header; nil if the value begins differently
    /// or ends there. The case of the scheme does not matter.
    static func text(ofAuthorization value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let scheme: StaticString = "bearer "
        guard value.count > scheme.utf8CodeUnitCount, zip(value, scheme.bytes).allSatisfy({ lowercased($0) == $1 })
        else { return nil }
        return UnsafeRawBufferPointer(rebasing: value[scheme.utf8CodeUnitCount...])
    }

    /// Verifies the form, key, team, signature and environment of a token.
    ///
    /// - Throws: a refusal with the first error.
    static func verify(
        _ text: UnsafeRawBufferPointer, in environment: APNSEnvironment, state: SimulatorState,
        signatures: VerifiedSignatures
    ) throws(Refusal) -> ReceivedProviderToken {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.count <= bytesMax, parts.count == 3, let header = object(parts[0]), let claims = object(parts[1]),
            let signature = Base64URL.decode(UnsafeRawBufferPointer(rebasing: parts[2]))
        else { throw invalid(.tokenForm) }
        guard header["alg"]?.isString("ES256") == true else { throw invalid(.tokenAlgorithm) }
        guard let keyID = header["kid"]?.string else { throw invalid(.tokenKeyID) }
        guard let teamID = claims["iss"]?.string else { throw invalid(.tokenTeam) }
        guard let issuedAt = issuedAt(claims["iat"], state.rules) else { throw invalid(.tokenIssuedAt) }
        guard let key = state.key(id: keyID) else { throw invalid(.keyUnknown) }
        guard !key.isRevoked else { throw invalid(.keyRevoked) }
        guard key.teamID == teamID else { throw invalid(.keyOfOtherTeam) }
        guard signatures.isGood(text, signature: signature, signedCount: parts[1].endIndex, by: key.publicKey) else {
            throw invalid(.tokenSignature)
        }
        guard key.environments.contains(environment) else {
            throw Refusal(reason: state.rules.keyEnvironmentReason, detail: .keyEnvironment)
        }
        return ReceivedProviderToken(key: key, issuedAtSeconds: issuedAt)
    }

    private static func invalid(_ detail: RefusalDetail) -> Refusal {
        Refusal(reason: .invalidProviderToken, detail: detail)
    }

    /// Returns the whole seconds of `iat`, which may have a fraction (RFC 7519, section 2, NumericDate). Returns nil if
    /// the value is not a time, or can only be in milliseconds, as in Apple's sample.
    private static func issuedAt(_ value: JSONValue?, _ rules: RuleOptions) -> Int64? {
        guard let seconds = rules.acceptsTextIssuedAt ? value?.double ?? value?.seconds : value?.double,
            0..<Double(HeaderForm.unixSecondsMax) ~= seconds
        else { return nil }
        return Int64(seconds)
    }

    private static func object(_ part: Slice<UnsafeRawBufferPointer>) -> JSONValue? {
        guard let bytes = Base64URL.decode(UnsafeRawBufferPointer(rebasing: part)) else { return nil }
        return try? JSONDocument(bytes, limits: JSONLimits(bytesMax: bytesMax, depthMax: 8)).root
    }
}

extension JSONValue {
    /// The number in a string of decimal digits with an optional fraction; nil for other values.
    fileprivate var seconds: Double? {
        guard let text = string, text.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || $0 &- UInt8(ascii: "0") < 10 })
        else { return nil }
        return Double(text)
    }
}
