import Crypto
import EventLoop
import JSON
import Testing

@testable import APNS

/// Tests of the times at which tokens are signed, and of the token that a connection sends.
@Suite struct ProviderTokenTests {
    private func at(minutes: Double, wallOffsetSeconds: Int64 = 0, suspendedMinutes: Int64 = 0) -> Now {
        let nanoseconds = Int64(minutes * 60_000_000_000)
        let suspended = suspendedMinutes * 60_000_000_000
        return Now(
            monotonic: MonotonicTime(nanoseconds: 5_000_000_000 + nanoseconds),
            sinceBoot: MonotonicTime(nanoseconds: 5_000_000_000 + nanoseconds + suspended),
            unixNanoseconds: 1_767_225_600_000_000_000 + nanoseconds + suspended + wallOffsetSeconds * 1_000_000_000)
    }

    @Test func descriptionsOmitTheToken() throws {
        let token = try ProviderToken(key: PoolHarness.key, generation: 7, now: at(minutes: 0))
        var dumped = ""
        dump(token, to: &dumped)
        let secret = try #require(String(decoding: token.authorization, as: UTF8.self).split(separator: ".").last)
        #expect("\(token)" == "provider token 7")
        #expect(!"\(String(reflecting: token)) \(dumped)".contains(secret))
        #expect(!dumped.contains("authorization"))
    }

    @Test(arguments: [0, 1, 299, 300, 301, UInt64.max])
    func aTokenIsReplacedBetweenTwentyFiveAndThirtyMinutes(random: UInt64) {
        var policy = ProviderTokenPolicy()
        #expect(policy.isMintDue(at(minutes: 0)))
        #expect(!policy.isUsable(at(minutes: 0)))
        policy.minted(generation: 1, at: at(minutes: 0), random: random)
        #expect(!policy.isMintDue(at(minutes: 0)))
        #expect(!policy.isMintDue(at(minutes: 24.9)))
        #expect(policy.isMintDue(at(minutes: 30)))
        #expect(policy.isUsable(at(minutes: 56.9)))
        #expect(!policy.isUsable(at(minutes: 57)))
    }

    @Test func theRenewalAgeDiffersFromTokenToToken() {
        let ages = (0..<30).map { seed in
            var policy = ProviderTokenPolicy()
            policy.minted(generation: 1, at: at(minutes: 0), random: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
            return (1500...1800).first { policy.isMintDue(at(minutes: Double($0) / 60)) }
        }
        #expect(Set(ages).count > 20)
    }

    @Test func anExpiredTokenIsReplacedOnceInTwentyMinutes() {
        var policy = ProviderTokenPolicy()
        policy.minted(generation: 1, at: at(minutes: 0), random: 0)
        #expect(policy.expired(generation: 1, at(minutes: 19.9)) == .giveUp)
        #expect(policy.expired(generation: 1, at(minutes: 20)) == .mint)
        policy.minted(generation: 2, at: at(minutes: 20), random: 0)
        #expect(policy.expired(generation: 1, at(minutes: 20)) == .useNewer)
        #expect(policy.expired(generation: 2, at(minutes: 21)) == .giveUp)
    }

    @Test func agesDoNotDependOnTheWallClock() {
        for hours: Int64 in [-1, 1, 24] {
            var policy = ProviderTokenPolicy()
            policy.minted(generation: 1, at: at(minutes: 0), random: 0)
            let offset = hours * 3600
            #expect(policy.isUsable(at(minutes: 10, wallOffsetSeconds: offset)))
            #expect(!policy.isMintDue(at(minutes: 24, wallOffsetSeconds: offset)))
            #expect(policy.isMintDue(at(minutes: 30, wallOffsetSeconds: offset)))
            #expect(!policy.isUsable(at(minutes: 57, wallOffsetSeconds: offset)))
        }
    }

    @Test func aSuspendedMachineAgesTheToken() {
        var policy = ProviderTokenPolicy()
        policy.minted(generation: 1, at: at(minutes: 0), random: 0)
        #expect(policy.isMintDue(at(minutes: 1, suspendedMinutes: 90)))
        #expect(policy.expired(generation: 1, at(minutes: 1, suspendedMinutes: 90)) == .mint)
        #expect(
            policy.expired(generation: 1, at(minutes: 1, suspendedMinutes: 18)) == .giveUp,
            "a suspend counted as a set clock")
        var use = TokenUse(ProviderTokenPolicy.Configuration())
        #expect(use.decide(newest: 1, mintedAt: at(minutes: 0).sinceBoot, at(minutes: 0).sinceBoot) == .useNewest)
        let later = at(minutes: 1, suspendedMinutes: 90).sinceBoot
        #expect(use.decide(newest: 2, mintedAt: later, later) == .useNewest)
    }

    @Test(arguments: [60, -60, 4200, -4200] as [Int64], [true, false])
    func aRefusedTokenIsReplacedOnceForEachStepOfTheClock(step: Int64, isExpired: Bool) {
        var policy = ProviderTokenPolicy()
        func refused(_ generation: Int, _ now: Now) -> ProviderTokenPolicy.RefusalAction {
            isExpired ? policy.expired(generation: generation, now) : policy.invalid(generation: generation, now)
        }
        policy.minted(generation: 1, at: at(minutes: 0), random: 0)
        #expect(refused(1, at(minutes: 1)) == .giveUp)
        #expect(refused(1, at(minutes: 1, wallOffsetSeconds: 59 * step.signum())) == .giveUp)
        let stepped = at(minutes: 1, wallOffsetSeconds: step)
        #expect(refused(1, stepped) == .mint)
        policy.minted(generation: 2, at: stepped, random: 0)
        #expect(refused(1, stepped) == .useNewer)
        #expect(refused(2, at(minutes: 2, wallOffsetSeconds: step)) == .giveUp)
        #expect(refused(2, at(minutes: 3)) == .mint, "a clock that was set back was not noticed")
    }

    // Even with a minimum of zero, an unchanged clock is no step.
    @Test(arguments: [0, 1] as [Int64]) func theSmallestStepIsASecond(stepSecondsMin: Int64) {
        var configuration = ProviderTokenPolicy.Configuration()
        configuration.stepSecondsMin = stepSecondsMin
        var policy = ProviderTokenPolicy(configuration)
        policy.minted(generation: 1, at: at(minutes: 0), random: 0)
        #expect(policy.invalid(generation: 1, at(minutes: 1)) == .giveUp)
        #expect(policy.invalid(generation: 1, at(minutes: 1, wallOffsetSeconds: 1)) == .mint)
    }

    @Test func anInvalidTokenIsNotReplacedBecauseOfItsAge() {
        var policy = ProviderTokenPolicy()
        policy.minted(generation: 1, at: at(minutes: 0), random: 0)
        #expect(policy.invalid(generation: 1, at(minutes: 24)) == .giveUp)
    }

    @Test func thePreviousTokenRemainsInUseIfSigningFails() throws {
        let works = at(minutes: 35)
        var source = ProviderTokenSigner(key: PoolHarness.key, .init(), after: 0) {
            key, generation, now throws(CryptoError) in
            guard generation == 1 || now.sinceBoot >= works.sinceBoot else { throw CryptoError(.failed, "cannot sign") }
            return try ProviderToken(key: key, generation: generation, now: now)
        }
        #expect(source.renew(at(minutes: 0)) { 0 })
        let first = try #require(source.newest)
        for minutes in [25.0, 30, 34.9] {
            #expect(!source.renew(at(minutes: minutes)) { 0 })
            #expect(source.refused(.init(kind: .expired, generation: 1), at(minutes: minutes)) { 0 } == nil)
            #expect(source.newest?.authorization == first.authorization && source.error?.code == .failed)
        }
        #expect(source.renew(works) { 0 })
        #expect(source.newest?.generation == 2 && source.error == nil)
    }

    @Test func aConnectionChangesItsTokenAfterTwentyMinutesAtTheEarliest() {
        func minutes(_ minutes: Double) -> MonotonicTime { at(minutes: minutes).sinceBoot }
        var use = TokenUse(ProviderTokenPolicy.Configuration())
        // The connection starts with a token that is 29 minutes old. One minute later, a new token exists.
        #expect(use.decide(newest: 1, mintedAt: minutes(0), minutes(29)) == .useNewest)
        #expect(use.decide(newest: 1, mintedAt: minutes(0), minutes(29.5)) == .keep)
        #expect(use.decide(newest: 2, mintedAt: minutes(30), minutes(30)) == .keep)
        #expect(use.decide(newest: 2, mintedAt: minutes(30), minutes(48.9)) == .keep)
        #expect(use.decide(newest: 2, mintedAt: minutes(30), minutes(49)) == .useNewest)
        #expect(use.decide(newest: 2, mintedAt: minutes(30), minutes(49)) == .keep)
        // The connection used the second token from minute 49. The connection may use the third token 20 minutes
        // later.
        #expect(use.decide(newest: 3, mintedAt: minutes(60), minutes(68)) == .keep)
        #expect(use.decide(newest: 3, mintedAt: minutes(60), minutes(69)) == .useNewest)
    }

    @Test func aConnectionWhoseTokenIsTooOldIsReplaced() {
        func minutes(_ minutes: Double) -> MonotonicTime { at(minutes: minutes).sinceBoot }
        var use = TokenUse(ProviderTokenPolicy.Configuration())
        #expect(use.decide(newest: 1, mintedAt: minutes(0), minutes(50)) == .useNewest)
        #expect(use.decide(newest: 2, mintedAt: minutes(51), minutes(56)) == .keep)
        #expect(use.decide(newest: 2, mintedAt: minutes(51), minutes(57)) == .replaceConnection)
    }

    @Test func theTokenHasTheDocumentedForm() throws {
        let token = try ProviderToken(key: PoolHarness.key, generation: 1, now: at(minutes: 0))
        let text = String(decoding: token.authorization, as: UTF8.self)
        #expect(text.hasPrefix("bearer "))
        let parts = text.dropFirst(7).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try JSONDocument(#require(Base64URL.decode(parts[0]))).root
        let claims = try JSONDocument(#require(Base64URL.decode(parts[1]))).root
        #expect(header["alg"]?.string == "ES256")
        #expect(header["kid"]?.string == "ABCDE12345")
        #expect(claims["iss"]?.string == "TEAM123456")
        #expect(claims["iat"]?.int64 == 1_767_225_600)
        let signature = try #require(Base64URL.decode(parts[2]))
        #expect(signature.count == 64)
        let signed = Array((parts[0] + "." + parts[1]).utf8)
        #expect(try PoolHarness.key.privateKey.publicKey().verify(signature: signature, of: signed))
    }

    @Test(
        arguments: ["", "ABCDE1234", "ABCDE123456", "ABCDE 1234", "ABCDE-1234", "ÄBCDE1234", #"ABCDE"1234"#]
            + "/:@[`{".map { "ABCDE\($0)1234" })
    func anIDHasTenLettersAndDigits(id: String) throws {
        let key = try ES256PrivateKey.generate()
        #expect(throws: CryptoError.self) { try ProviderKey(privateKey: key, keyID: id, teamID: "TEAM123456") }
        #expect(throws: CryptoError.self) { try ProviderKey(privateKey: key, keyID: "ABCDE12345", teamID: id) }
    }

    @Test(arguments: ["0123456789", "AZazAZaz09"]) func anIDMayHaveEveryLetterAndDigit(id: String) throws {
        #expect(try ProviderKey(privateKey: .generate(), keyID: id, teamID: id).keyID == id)
    }

    // A key file may be replaced by another file with the same IDs.
    @Test func aSignerRecognizesItsKey() throws {
        let key = PoolHarness.key
        let signer = ProviderTokenSigner(key: key)
        #expect(signer.signs(with: key))
        #expect(!signer.signs(with: try ProviderKey(privateKey: .generate(), keyID: key.keyID, teamID: key.teamID)))
    }

    @Test func parsesAKeyFile() throws {
        let pem = try ES256PrivateKey.generate().pkcs8PEM()
        #expect(
            try ProviderKey(p8PEM: Array(pem.utf8), keyID: "ABCDE12345", teamID: "TEAM123456").keyID == "ABCDE12345")
        #expect(throws: CryptoError.self) {
            try ProviderKey(p8PEM: Array("no key".utf8), keyID: "ABCDE12345", teamID: "TEAM123456")
        }
    }
}
