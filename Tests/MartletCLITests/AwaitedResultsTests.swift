import AMQP
import Testing

@testable import MartletCLI

@Suite struct AwaitedResultsTests {
    private static let id = "6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa"

    private func message(_ body: String, _ messageID: String) -> OutgoingMessage {
        OutgoingMessage(exchange: "", routingKey: "", body: Array(body.utf8), messageID: messageID)
    }

    @Test(arguments: [
        (#"{"id":"\#(id.uppercased())"}"#, "order-7", id), ("{}", "order-7", "aef9ecf1-3bff-5958-834e-47bc02769eaf"),
        ("{}", id.uppercased(), id), ("not JSON", "order-7", "order-7"),
    ])
    func aResultIsMatchedByTheWorkersID(body: String, messageID: String, resultID: String) {
        var awaited = AwaitedResults(of: [message(body, messageID)])
        let isForAnother = awaited.remove(["another", nil])
        #expect(!isForAnother && awaited.missing == [messageID])
        let isRemoved = awaited.remove([nil, resultID])
        #expect(isRemoved && awaited.isEmpty)
    }

    @Test func messagesWithTheSameIDHaveOneResultEach() {
        var awaited = AwaitedResults(of: [message("{}", Self.id), message("{}", Self.id)])
        let removed = (0..<3).map { _ in awaited.remove([Self.id]) }
        #expect(removed == [true, true, false])
    }
}
