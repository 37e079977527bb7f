import APNS
import APNSProtocol
import Crypto
import EventLoop
import Testing

@testable import Operations

/// One provider token for each key of a process.
@Suite struct ProviderTokensTests {
    private var tokens = ProviderTokens()
    private let keys: [ProviderKey]

    init() throws {
        keys = try ["KEY1111111", "KEY2222222"].map { try Self.key($0) }
        try tokens.replace(keys, Self.at(minutes: 0)) { 0 }
    }

    private static func key(_ id: String) throws -> ProviderKey {
        try ProviderKey(privateKey: .generate(), keyID: id, teamID: "TEAM111111")
    }

    private static func at(minutes: Int64) -> Now {
        let time = MonotonicTime(nanoseconds: minutes * 60_000_000_000)
        return Now(monotonic: time, sinceBoot: time, unixNanoseconds: 1_767_225_600_000_000_000 + time.nanoseconds)
    }

    private func first(_ key: ProviderKey) -> [UInt8]? {
        tokens.supplies { _, _ in }[Credential.key(key).name]?.first.authorization
    }

    @Test func everyLaneBeginsWithTheSameToken() {
        #expect(first(keys[0]) == first(keys[0]))
        #expect(first(keys[0]) != first(keys[1]))
    }

    @Test mutating func eachKeyIsRenewedOnceForAll() {
        #expect(tokens.renew(Self.at(minutes: 24)) { 0 }.isEmpty)
        let news = tokens.renew(Self.at(minutes: 25)) { 0 }
        #expect(Set(news.map(\.0)) == Set(keys.map { Credential.key($0).name }))
        #expect(tokens.renew(Self.at(minutes: 26)) { 0 }.isEmpty)
    }

    @Test mutating func aKeyThatIsStillThereKeepsItsToken() throws {
        let before = keys.map { first($0) }
        let changed = try Self.key("KEY2222222")
        try tokens.replace([keys[0], changed], Self.at(minutes: 5)) { 0 }
        #expect(first(keys[0]) == before[0])
        #expect(first(changed) != before[1], "another key under the same ID")
        try tokens.replace([changed], Self.at(minutes: 6)) { 0 }
        #expect(first(keys[0]) == nil)
    }

    @Test mutating func aRefusalOfManyLanesMakesOneNewToken() throws {
        let name = Credential.key(keys[0]).name
        let refusal = TokenRefusal(kind: .expired, generation: 1)
        func refused(minutes: Int64) -> ProviderToken? {
            let news = tokens.refused(refusal, of: name, Self.at(minutes: minutes)) { 0 }
            if case .newest(let token) = news { return token }
            return nil
        }
        #expect(refused(minutes: 5) == nil, "no sooner than 20 minutes after the one before")
        #expect(refused(minutes: 21)?.generation == 2)
        #expect(refused(minutes: 21)?.generation == 2)
        #expect(refused(minutes: 22)?.authorization == first(keys[0]))
    }
}
