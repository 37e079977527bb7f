import APNSProtocol
import EventLoop
import Testing

@testable import APNS
@testable import HTTP2

@Suite struct RequestHeadersTests {
    private func text(_ part: HeaderBlock.Part, in block: HeaderBlock) -> String {
        switch part {
        case .constant(let text): "\(text)"
        case .stored(let start, let count): String(decoding: block.bytes[start..<start + count], as: UTF8.self)
        }
    }

    @Test func secretsAndChangingFieldsAreNotIndexed() throws {
        var headers = RequestHeaders(authority: Array("api.test".utf8))
        var block = HeaderBlock()
        let now = Now(monotonic: MonotonicTime(nanoseconds: 1), unixNanoseconds: 1_767_225_600_000_000_000)
        let token = try ProviderToken(key: PoolHarness.key, generation: 1, now: now)
        func neverIndexed() -> [String] {
            headers.write(
                PoolHarness.request(1, priority: .immediate, expiration: 5, collapseID: "c"), token: token, to: &block)
            return block.fields.filter { $0.indexing == .never }.map { text($0.name, in: block) }
        }
        #expect(neverIndexed() == [":path", "authorization"])
        #expect(neverIndexed() == [":path", "authorization", "apns-id", "apns-expiration", "apns-collapse-id"])
    }

    // Row 11 of the conformance table. The headers take at most half of the SETTINGS_MAX_HEADER_LIST_SIZE of APNs,
    // which nghttp2 ignores.
    @Test func theLongestHeadersFitTheLimitOfAPNs() throws {
        let now = Now(monotonic: MonotonicTime(nanoseconds: 1), unixNanoseconds: 1_767_225_600_000_000_000)
        let token = try ProviderToken(key: PoolHarness.key, generation: 1, now: now)
        func digits(_ count: Int) -> String { String(repeating: "a", count: count) }
        // The maximum lengths of the schema.
        let app = digits(200)
        let device = PoolHarness.request(
            1, token: digits(DeviceToken.hexDigitsMax), topic: app + "\(PushType.liveactivity.topicSuffix)",
            priority: .immediate, expiration: 9_999_999_999, collapseID: digits(APNSLimits.collapseIDBytesMax))
        for request in [device, PoolHarness.broadcast(2, channel: digits(256), app: app)] {
            var headers = RequestHeaders(authority: Array(digits(253).utf8))
            var block = HeaderBlock()
            headers.write(request, token: token, to: &block)
            // RFC 9113, section 6.5.2, defines the size of a field.
            let bytes = block.fields.reduce(0) { sum, field in
                sum + text(field.name, in: block).utf8.count + text(field.value, in: block).utf8.count + 32
            }
            #expect(bytes > 1000 && bytes <= APNSLimits.headerListBytesMax / 2)
        }
    }
}
