import Testing

@testable import Configuration

@Suite struct ProcessorsTests {
    @Test(
        arguments: [
            ("max 100000\n", nil), ("100000 100000\n", 1), ("150000 100000\n", 1), ("400000 100000\n", 4),
            ("50000 100000\n", 1), ("", nil), ("1\n", nil), ("x y\n", nil), ("0 100000", nil), ("100000 0", nil),
            ("99999999999999999999 1", nil),
        ] as [(String, Int?)])
    func aContainersQuotaIsRoundedDown(text: String, count: Int?) {
        #expect(Processors.quotient(Array(text.utf8)) == count)
    }

    @Test func thereIsAtLeastOne() { #expect(Processors.count >= 1) }
}
