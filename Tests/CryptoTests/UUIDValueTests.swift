import Crypto
import Testing

@Suite struct UUIDValueTests {
    let dns = UUIDValue(high: 0x6ba7_b810_9dad_11d1, low: 0x80b4_00c0_4fd4_30c8)

    @Test func `Text in either case is read, lower case is written`() {
        let text = "6BA7B810-9dad-11D1-80b4-00c04FD430C8"
        #expect(UUIDValue(text) == dns)
        #expect(UUIDValue(text[...]) == dns)
        #expect("\(dns)" == "6ba7b810-9dad-11d1-80b4-00c04fd430c8")
        #expect(UUIDValue("00000000-0000-0000-0000-000000000000") == UUIDValue(high: 0, low: 0))
        #expect(UUIDValue("ffffffff-ffff-ffff-ffff-ffffffffffff") == UUIDValue(high: .max, low: .max))
    }

    @Test(arguments: [
        "", "6ba7b810", "6ba7b8109dad11d180b400c04fd430c8", "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}",
        "6ba7b810-9dad-11d1-80b4-00c04fd430c", "6ba7b810-9dad-11d1-80b4-00c04fd430c89",
        "6ba7b8109-dad-11d1-80b4-00c04fd430c8",
        "6ba7b810-9dad-11d1-80b4-00c04fd430cg", "6ba7b810-9dad-11d1-80b4-00c04fd430c ",
        "6ba7b810-9dad-11d1-80b4+00c04fd430c8",
        "6ba7b810-9dad-11d1-80b4-00c04fd430ü",
    ])
    func `Other texts are refused`(text: String) {
        #expect(UUIDValue(text) == nil)
    }

    @Test func `Version 5 agrees with other implementations`() {
        // The example of RFC 9562, A.4.
        #expect("\(UUIDValue(name: "www.example.com", namespace: dns))" == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
        #expect("\(UUIDValue(name: "python.org", namespace: dns))" == "886313e1-3b8a-5372-9b90-0c9aee199e5d")
        #expect("\(UUIDValue(name: "", namespace: dns))" == "4ebd0208-8328-5d69-8c44-ec50939c0967")
        let long = String(repeating: "ü", count: 100)
        #expect("\(UUIDValue(name: long, namespace: dns))" == "03cd28bd-ea54-5c3d-bd4c-110e254c314f")
    }

    @Test func `Version 4 is random with the standard's bits set`() throws {
        let values = try (0..<100).map { _ in try UUIDValue.random() }
        #expect(Set(values).count == 100)
        for value in values {
            #expect(value.high >> 12 & 15 == 4 && value.low >> 62 == 2)
            #expect(UUIDValue("\(value)") == value)
        }
    }

    @Test func `A buffer that is too small is not changed`() {
        var small = [UInt8](repeating: 9, count: 35)
        #expect(small.withUnsafeMutableBytes { dns.write(to: $0) } == 0)
        #expect(small == [UInt8](repeating: 9, count: 35))
        var wide = [UInt8](repeating: 9, count: 40)
        #expect(wide.withUnsafeMutableBytes { dns.write(to: $0) } == 36)
        #expect(String(decoding: wide[..<36], as: UTF8.self) == dns.description && wide[36...].allSatisfy { $0 == 9 })
    }

    @Test func `The text is available without a string`() {
        #expect(dns.withText { String(decoding: $0, as: UTF8.self) } == dns.description)
    }
}
