import AMQP
import Testing

@testable import MartletCLI

@Suite struct AwaitedResultsTests {
    private static let id = "6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa"

    private func message(_ body: String, _ messageID: String) -> OutgoingMessage {
        OutgoingMessage(exchange: "", routingKey: "", body: Array(body.utf8), messageID: messageID)
    }

    private func result(_ body: String, _ messageID: String?, type: String? = nil) -> WatchedMessage {
        WatchedMessage(result: Array(body.utf8), messageID: messageID, type: type)
    }

    @Test(arguments: [
        (#"{"id":"\#(id.uppercased())"}"#, "order-7", id), ("{}", "order-7", "aef9ecf1-3bff-5958-834e-47bc02769eaf"),
        ("{}", id.uppercased(), id), ("not JSON", "order-7", "order-7"),
    ])
    func aResultIsMatchedByTheWorkersID(body: String, messageID: String, resultID: String) {
        var awaited = AwaitedResults(of: [message(body, messageID)])
        let isForAnother = awaited.receive(result("{}", "another"))
        #expect(!isForAnother && awaited.missing == [messageID])
        let isReceived = awaited.receive(result("{}", resultID))
        #expect(isReceived && awaited.isEmpty)
    }

    @Test func messagesWithTheSameIDHaveOneResultEach() {
        var awaited = AwaitedResults(of: [message("{}", Self.id), message("{}", Self.id)])
        let received = (0..<3).map { _ in awaited.receive(result("{}", Self.id)) }
        #expect(received == [true, true, false])
    }

    @Test(arguments: [["child", "report", "child"], ["report", "child", "child"], ["child", "child", "report"]])
    func aRequestToUsersIsCompleteWithItsReportAndAsManyResults(order: [String]) {
        var awaited = AwaitedResults(of: [message("{}", Self.id)])
        for word in order {
            #expect(awaited.missing == [Self.id])
            let next =
                word == "report"
                ? result(#"{"id":"\#(Self.id)","devices":2}"#, Self.id, type: "push.fanout.v1")
                : result(#"{"id":"c","request_id":"\#(Self.id)","outcome":"accepted"}"#, "c")
            let isReceived = awaited.receive(next)
            #expect(isReceived)
        }
        #expect(awaited.isEmpty)
    }

    @Test func aReportWithoutDevicesAndTheResultOfAnOnlyDeviceComplete() {
        var awaited = AwaitedResults(of: [message("{}", Self.id), message("{}", "b")])
        let report = awaited.receive(result(#"{"devices":0}"#, Self.id, type: "push.fanout.v1"))
        #expect(report && awaited.missing == ["b"])
        let only = awaited.receive(result(#"{"request_id":"b","devices":1,"outcome":"accepted"}"#, "c"))
        #expect(only && awaited.isEmpty)
    }
}
