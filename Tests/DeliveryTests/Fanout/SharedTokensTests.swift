import Crypto
import Testing

@testable import Delivery

/// The shared tokens in a cursor.
@Suite struct SharedTokensTests {
    private func key(_ number: UInt64) -> UUIDValue { UUIDValue(high: .max, low: number) }

    @Test func `The text contains each token once`() {
        var tokens = SharedTokens()
        #expect(tokens.isEmpty && tokens.text.isEmpty)
        for number in [7, 0xabcd_ef01, 7] as [UInt64] { tokens.insert(key(number)) }
        #expect(tokens.text == "00000007abcdef01" && SharedTokens("00000007abcdef01") == tokens)
        #expect(tokens.mayContain(key(7)) && !tokens.mayContain(key(8)) && !tokens.isEmpty)
    }

    @Test func `Above the limit every token counts as contained`() {
        var tokens = SharedTokens()
        for number in 0..<UInt64(SharedTokens.tokensMax) { tokens.insert(key(number)) }
        #expect(!tokens.mayContain(key(1000)) && SharedTokens(tokens.text[...]) == tokens)
        tokens.insert(key(1000))
        #expect(tokens.mayContain(key(2000)) && tokens.text == "*" && SharedTokens("*") == tokens)
        #expect(SharedTokens(Substring(String(repeating: "00000007", count: SharedTokens.tokensMax + 1))) == nil)
    }
}
