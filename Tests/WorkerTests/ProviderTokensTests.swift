import APNS
import APNSProtocol
import Crypto
import EventLoop
import Testing

@testable import Worker

/// Provider tokens of a process, one for each key.
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

    private func generation(_ key: ProviderKey) -> Int? {
        tokens.supplies { _, _ in }[Credential.key(key).name]?.first.generation
    }

    // Lanes may start at any time, and other keys may change.
    @Test mutating func everyLaneStartsWithTheSameToken() throws {
        let other = first(keys[1])
        var begun: [[UInt8]?] = []
        for minute in 0..<20 as Range<Int64> {
            let others = try minute % 5 == 4 ? [Self.key("KEY3333333")] : []
            try tokens.replace([keys[0]] + others, Self.at(minutes: minute)) { 0 }
            _ = tokens.renew(Self.at(minutes: minute)) { 0 }
            begun.append(first(keys[0]))
        }
        #expect(Set(begun).count == 1 && begun[0] != nil && begun[0] != other)
    }

    @Test mutating func eachTokenIsRenewedOnceForAllLanes() {
        #expect(tokens.renew(Self.at(minutes: 24)) { 0 }.isEmpty)
        let news = tokens.renew(Self.at(minutes: 25)) { 0 }
        #expect(Set(news.map(\.0)) == Set(keys.map { Credential.key($0).name }))
        #expect(tokens.renew(Self.at(minutes: 26)) { 0 }.isEmpty)
    }

    @Test mutating func aRetainedKeyKeepsItsToken() throws {
        let before = keys.map { first($0) }
        let changed = try Self.key("KEY2222222")
        try tokens.replace([keys[0], changed], Self.at(minutes: 5)) { 0 }
        #expect(first(keys[0]) == before[0])
        #expect(first(changed) != before[1], "another key with the same ID has the token of the first key")
        try tokens.replace([changed], Self.at(minutes: 6)) { 0 }
        #expect(first(keys[0]) == nil)
    }

    /// After a rollback of the configuration, a key keeps its token. APNs accepts no second token of a key within 20
    /// minutes.
    @Test mutating func aRestoredKeyContinuesWithItsToken() throws {
        let before = first(keys[1])
        try tokens.replace([keys[0]], Self.at(minutes: 1)) { 0 }
        #expect(tokens.renew(Self.at(minutes: 30)) { 0 }.map(\.0) == [Credential.key(keys[0]).name])
        try tokens.replace(keys, Self.at(minutes: 60)) { 0 }
        #expect(first(keys[1]) == before)
        #expect(tokens.renew(Self.at(minutes: 60)) { 0 }.count == 2 && generation(keys[1]) == 2)
    }

    @Test mutating func aKeyUnusedForAnHourIsForgotten() throws {
        let before = first(keys[1])
        try tokens.replace([keys[0]], Self.at(minutes: 1)) { 0 }
        _ = tokens.renew(Self.at(minutes: 61)) { 0 }
        try tokens.replace(keys, Self.at(minutes: 61)) { 0 }
        #expect(first(keys[1]) != before && generation(keys[1]) == 1)
    }

    /// The key's file changes to another file with the same key ID, and back.
    @Test mutating func aRestoredFileContinuesWithItsToken() throws {
        let other = try Self.key("KEY2222222")
        var seen: [[UInt8]?] = [first(keys[1])]
        for minute in 1...6 as ClosedRange<Int64> {
            try tokens.replace([keys[0], minute % 2 == 1 ? other : keys[1]], Self.at(minutes: minute)) { 0 }
            seen.append(first(other))
        }
        #expect(Set(seen).count == 2 && seen[0] != seen[1])
        #expect((0...4).allSatisfy { seen[$0] == seen[$0 + 2] })
        _ = tokens.renew(Self.at(minutes: 26)) { 0 }
        #expect(generation(keys[1]) == 3, "lanes would ignore the token, because they have seen a second token")
    }

    // Several keys have the same ID while retired lanes still use earlier keys.
    @Test mutating func lastOfSeveralKeysWithOneIDCounts() throws {
        let (before, others) = (first(keys[1]), try (0..<2).map { _ in try Self.key("KEY2222222") })
        try tokens.replace(others + keys, Self.at(minutes: 1)) { 0 }
        #expect(first(keys[1]) == before)
        try tokens.replace(keys + others, Self.at(minutes: 2)) { 0 }
        #expect(generation(others[1]) == 2, "a token was signed for a key that does not count")
    }

    @Test mutating func rememberedKeysAreBounded() throws {
        let privateKey = try ES256PrivateKey.generate()
        let many = try (0...ProviderTokens.rememberedMax).map { number in
            try ProviderKey(privateKey: privateKey, keyID: "K\(100_000_000 + number)", teamID: "TEAM111111")
        }
        try tokens.replace(many, Self.at(minutes: 1)) { 0 }
        try tokens.replace([], Self.at(minutes: 2)) { 0 }
        try tokens.replace(many, Self.at(minutes: 3)) { 0 }
        let supplies = tokens.supplies { _, _ in }
        let renewed = many.filter { key in
            let token = supplies[Credential.key(key).name]?.first
            return token?.mintedAt.sinceBoot == Self.at(minutes: 3).sinceBoot
        }
        #expect(renewed.count == 1)
    }

    @Test mutating func refusalsOfManyLanesSignOneNewToken() throws {
        let name = Credential.key(keys[0]).name
        let refusal = TokenRefusal(kind: .expired, generation: 1)
        func refused(minutes: Int64) -> ProviderToken? {
            let news = tokens.refused(refusal, of: name, Self.at(minutes: minutes)) { 0 }
            if case .newest(let token) = news { return token }
            return nil
        }
        #expect(refused(minutes: 5) == nil, "a token was signed within 20 minutes of the previous token")
        #expect(refused(minutes: 21)?.generation == 2)
        #expect(refused(minutes: 21)?.generation == 2)
        #expect(refused(minutes: 22)?.authorization == first(keys[0]))
    }
}
