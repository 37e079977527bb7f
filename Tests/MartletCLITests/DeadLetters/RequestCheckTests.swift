import Testing

@testable import DeadLetters
@testable import MartletCLI

@Suite struct RequestCheckTests {
    private static let request =
        #"{"id":"6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa","app":"a","device_token":"aabb","push_type":"voip","payload":{}}"#

    // Without the check, the command would redrive a request that a worker dead-letters again.
    @Test(arguments: [
        (nil, false), ("binary", false), ("utf-8", false), ("", false), ("gzip", true), ("identity, BR", true),
    ])
    func aRefusedPropertyIsReported(_ encoding: String?, _ isRefused: Bool) {
        var copy = RepublishableMessage(body: Array(Self.request.utf8))
        copy.contentEncoding = encoding
        let problem = RequestCheck(nil).problem(in: copy)
        #expect((problem != nil) == isRefused)
        #expect(problem?.message.contains("compressed") ?? true)
    }

    @Test func aRefusedBodyIsReported() {
        #expect(RequestCheck(nil).problem(in: RepublishableMessage(body: Array("{}".utf8))) != nil)
    }
}
