import EventLoop
import JSON
import TestKit
import Testing

@testable import APNSSimulator

/// Tests of the log's details about refusals whose reasons have several possible causes.
@Suite struct RefusalDetailTests {
    /// Returns the newest request of the log.
    private func logged(_ wire: Wire) throws -> JSONDocument {
        var json = JSONWriter()
        try #require(wire.apns.requests.last).write(to: &json, .summary)
        return try JSONDocument(json.bytes)
    }

    @Test(arguments: RefusedRequest.detailed + RefusedRequest.plain)
    func theLogHasTheDetail(request: RefusedRequest) throws {
        let stage = try RefusalStage()
        let answer = try request.send(stage)
        #expect(answer.line == #"\#(request.status) {"reason":"\#(request.reason)"}"#)
        let line = try logged(stage.wire).root
        #expect(line["detail"]?.string == request.detail)
        #expect(line["status"]?.int == request.status)
        #expect(line["reason"]?.string == request.reason)
    }

    @Test func everyDetailIsTested() {
        #expect(Set(RefusedRequest.detailed.map(\.detail)) == Set(RefusalDetail.allCases.map(\.rawValue)))
    }

    // The acceptance of unchanged requests shows that the changes of the other tests cause the details.
    @Test func unchangedRequestsAreAccepted() throws {
        let stage = try RefusalStage()
        let certified = try stage.connect(showing: AppleAuthority.single)
        for answer in [
            stage.wire.push(["authorization": nil], on: certified),
            stage.broadcast(["authorization": nil], on: certified),
        ] { #expect(answer.line == "200") }
        let clear = try RefusalStage()
        #expect(try clear.push().line == "200")
        #expect(try clear.push(by: clear.theirs, topic: "com.example.theirs").line == "200")
        for provider in [clear.second, clear.topics, clear.otherTopics] {
            #expect(try clear.push(by: provider).line == "200")
        }
        #expect(clear.broadcast().line == "200")
        #expect(clear.broadcast(["apns-channel-id": RefusalStage.ChannelID.unstored]).line == "200")
        #expect(clear.read().line == #"200 {"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        #expect(try logged(clear.wire).root["detail"] == nil)
    }

    @Test func thePageHasASentenceForEach() throws {
        let page = String(
            decoding: try Files.bytes(of: Products.file("Sources/APNSSimulator/Page/explain.js")), as: UTF8.self)
        #expect(RefusalDetail.allCases.map(\.rawValue).filter { !page.contains("\n  \($0): (") } == [])
    }

    @Test func theGuideListsEachDetail() throws {
        let manual = try Files.lines(of: Products.file("Sources/Documentation/Simulator/Guide.md"))
        let section = manual.drop { $0 != "## Read what was received" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        let words = section.compactMap { $0.wholeMatch(of: /\| `([a-z_]+)` \| .+ \|/) }.map { String($0.output.1) }
        #expect(words.sorted() == RefusalDetail.allCases.map(\.rawValue).sorted())
    }

    @Test func latencyFaultsKeepTheDetail() throws {
        let stage = try RefusalStage()
        try stage.wire.loop.enter {
            try stage.wire.apns.server.faults.put(Fault(id: "late", action: .latency(.constant(5))))
        }
        #expect(stage.wire.push(body: "[]").status == 400)
        #expect(try logged(stage.wire).root["detail"]?.string == "payload_form")
        #expect(stage.wire.push().status == 200)
        #expect(try logged(stage.wire).root["detail"] == nil)
    }
}
