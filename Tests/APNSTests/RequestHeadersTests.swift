import APNSProtocol
import EventLoop
import Testing

@testable import APNS
@testable import HTTP2

@Suite struct RequestHeadersTests {
    /// Whatever this asks for, nghttp2 writes `authorization` as it should; another library would not.
    @Test func secretsAndWhatDiffersAreNotIndexed() throws {
        var headers = RequestHeaders(authority: Array("api.test".utf8))
        var block = HeaderBlock()
        let now = Now(monotonic: MonotonicTime(nanoseconds: 1), unixNanoseconds: 1_767_225_600_000_000_000)
        let token = try ProviderToken(key: PoolRig.key, generation: 1, now: now)
        func neverIndexed() -> [String] {
            headers.write(
                PoolRig.request(1, priority: .immediate, expiration: 5, collapseID: "c"), token: token, to: &block)
            return block.fields.filter { $0.indexing == .never }.map {
                String(decoding: block.bytes[$0.start..<($0.start + $0.nameCount)], as: UTF8.self)
            }
        }
        #expect(neverIndexed() == [":path", "authorization"])
        #expect(neverIndexed() == [":path", "authorization", "apns-id", "apns-expiration", "apns-collapse-id"])
    }
}
