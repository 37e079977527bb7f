import Crypto
import Registrations
import Testing

@Suite struct RowCipherTests {
    private static let key = Registration.Key(token: UUIDValue(high: 1, low: 2), slot: UUIDValue(high: 3, low: 4))
    private static let user = UUIDValue(high: 5, low: 6)
    private static let identity = RegistrationIdentity(
        token: "00ff8f3a", user: "ann \u{E9}", deviceID: "phone", scope: "activity")

    private static func keys(_ ids: ClosedRange<Int>) throws -> RegistrationKeys {
        let keys = ids.map { id in
            let letter = Character(Unicode.Scalar(UInt8(ascii: "B") + UInt8(id)))
            return #"{"id":\#(id),"key":"\#(String(repeating: letter, count: 42))A="}"#
        }
        let index = String(repeating: "A", count: 43) + "="
        let text = #"{"index_key":"\#(index)","data_keys":[\#(keys.joined(separator: ","))]}"#
        return try RegistrationKeys(json: Array(text.utf8), source: "test")
    }

    @Test(arguments: [
        identity, RegistrationIdentity(token: "0a", user: "b"),
        RegistrationIdentity(token: "0a", user: "b", scope: "s"),
        RegistrationIdentity(token: "0a", user: "b", deviceID: "d"),
        RegistrationIdentity(
            token: String(repeating: "f0", count: 200), user: String(repeating: "\u{1F600}", count: 64),
            deviceID: String(repeating: "d", count: 128), scope: String(repeating: "\u{0}", count: 128)),
    ])
    func `Identities round-trip`(identity: RegistrationIdentity) throws {
        let cipher = try RowCipher(Self.keys(1...1))
        let sealed = try cipher.seal(identity, of: Self.key, userKey: Self.user)
        #expect(sealed.keyID == 1)
        #expect(try cipher.open(sealed, of: Self.key, userKey: Self.user) == identity)
        #expect(try cipher.seal(identity, of: Self.key, userKey: Self.user) != sealed)
    }

    @Test func `The data key with the highest id encrypts by default, and earlier ones decrypt`() throws {
        let sealed = try RowCipher(Self.keys(1...1)).seal(Self.identity, of: Self.key, userKey: Self.user)
        let rotated = try RowCipher(Self.keys(1...2))
        #expect(try rotated.open(sealed, of: Self.key, userKey: Self.user) == Self.identity)
        #expect(try rotated.seal(Self.identity, of: Self.key, userKey: Self.user).keyID == 2)
        #expect(throws: RowCipher.OpenError.unknownKey(1)) {
            try RowCipher(Self.keys(2...2)).open(sealed, of: Self.key, userKey: Self.user)
        }
        var other = sealed
        other.keyID = 2
        #expect(throws: RowCipher.OpenError.notAuthentic) {
            try rotated.open(other, of: Self.key, userKey: Self.user)
        }
    }

    @Test func `A changed or exchanged ciphertext is refused`() throws {
        let cipher = try RowCipher(Self.keys(1...1))
        let sealed = try cipher.seal(Self.identity, of: Self.key, userKey: Self.user)
        for index in sealed.ciphertext.indices {
            var changed = sealed
            changed.ciphertext[index] ^= 0x10
            #expect(throws: RowCipher.OpenError.notAuthentic) {
                try cipher.open(changed, of: Self.key, userKey: Self.user)
            }
        }
        let number = UUIDValue(high: 9, low: 9)
        for (key, user) in [
            (Registration.Key(token: number, slot: Self.key.slot), Self.user),
            (Registration.Key(token: Self.key.token, slot: number), Self.user), (Self.key, number),
            (Registration.Key(token: Self.key.slot, slot: Self.key.token), Self.user),
        ] {
            #expect(throws: RowCipher.OpenError.notAuthentic) { try cipher.open(sealed, of: key, userKey: user) }
        }
        for count in 0..<sealed.ciphertext.count {
            let short = RowCipher.Sealed(keyID: 1, ciphertext: Array(sealed.ciphertext.prefix(count)))
            #expect(throws: RowCipher.OpenError.notAuthentic) {
                try cipher.open(short, of: Self.key, userKey: Self.user)
            }
        }
    }

    @Test(arguments: [
        RegistrationIdentity(token: "", user: "b"), RegistrationIdentity(token: "0", user: "b"),
        RegistrationIdentity(token: "0g", user: "b"), RegistrationIdentity(token: "0a", user: ""),
        RegistrationIdentity(token: "0a", user: "b", scope: ""),
        RegistrationIdentity(token: "0a", user: String(repeating: "b", count: 65_536)),
    ])
    func `Identities that would not round-trip are refused`(identity: RegistrationIdentity) throws {
        let cipher = try RowCipher(Self.keys(1...1))
        let error = #expect(throws: CryptoError.self) {
            try cipher.seal(identity, of: Self.key, userKey: Self.user)
        }
        #expect(error?.code == .invalidArgument)
    }
}
