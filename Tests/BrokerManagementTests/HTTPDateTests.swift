import Testing

@testable import BrokerManagement

@Suite struct HTTPDateTests {
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Sun, 22 Nov 2026 15:00:00 GMT", 1_795_359_600),
        ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("", nil), ("Sun, 06 Nov 1994 08:49 GMT", nil),
        ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08::49:37 GMT", nil), ("Sun, 06 Nov 1994 :08:49:37 GMT", nil),
    ])
    func theTimeOfAHeader(text: String, seconds: Int64?) {
        #expect(HTTPDate.unixSeconds(text) == seconds)
    }
}
