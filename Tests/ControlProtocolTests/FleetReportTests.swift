import JSON
import Telemetry
import Testing

@testable import ControlProtocol

/// The format of reports, and the shortening of large reports.
@Suite struct FleetReportTests {
    private static let huge = String(repeating: "\u{1B}é\"", count: 50)

    /// Returns a status whose lists have `count` elements.
    private static func status(_ count: Int, text: String = "x") -> WorkerStatus {
        var status = FleetSamples.status()
        let names = (0..<count).map { "\(text)\($0)" }
        status.certificates = names.map { .init(name: $0, notAfterSeconds: 1_800_000_000) }
        status.queues = names.map { .init(name: $0) }
        status.limitedApps = names.map { .init(bundleID: $0) }
        status.pauses = names.map { PauseReport(target: $0) }
        (status.paused, status.reasons) = (names, names)
        status.breakers = names.map { .init(route: $0, code: "c", sentence: text) }
        return status
    }

    private static func report(_ status: WorkerStatus) -> FleetReport {
        FleetReport(status, bootID: FleetSamples.uuid(1), sequence: 7, sentAt: FleetSamples.now)
    }

    @Test func aReportIsReadAsWrittenWithoutLanes() throws {
        let report = FleetSamples.report(sequence: 7, hasEnded: true, revision: 17)
        let read = try FleetReport(json: report.json)
        #expect(read == report)
        #expect(read.status.lanes.isEmpty && read.dropped.isEmpty)
        #expect(read.pauses == PauseRevision(series: FleetSamples.series, number: 17))
        #expect(read.status.breakers == FleetSamples.status().breakers)
        #expect(!String(decoding: report.json, as: UTF8.self).contains("pools"))
    }

    @Test func aReportCountsTheConsumersOfAllLanes() {
        var status = FleetSamples.status(queues: ["push.requests.0", "push.requests.1"])
        status.retiredLanes = [
            .init(report: .init(wantsRequests: true, queues: [.init(name: "push.requests.1", isConsumed: true)])),
            .init(report: .init(wantsRequests: true, queues: [.init(name: "push.requests.1", isConsumed: false)])),
            // A lane that is paused or ends.
            .init(report: .init(queues: [.init(name: "push.requests.1", isConsumed: true)])),
        ]
        let report = Self.report(status)
        #expect(report.consumers == 5)
        #expect(
            report.consumedQueues == [
                .init(name: "push.requests.0", consumers: 2), .init(name: "push.requests.1", consumers: 3),
            ])
    }

    @Test func aLargeReportKeepsBreakersLongerThanCertificates() throws {
        var status = Self.status(100)
        status.certificates = (0..<300).map { .init(name: "certificate \($0)", notAfterSeconds: 1_800_000_000) }
        let report = Self.report(status)
        #expect(report.json.count <= FleetLimits.reportBytesMax)
        let read = try FleetReport(json: report.json)
        #expect(read.status.certificates.isEmpty)
        #expect(read.dropped.first == DroppedElements(list: "certificates", count: 300))
        #expect(read.status.breakers == status.breakers)
        #expect(read.status.reasons == status.reasons)
        #expect(read.dropped.map(\.count).reduce(read.elementCount - read.dropped.count, +) == report.elementCount)
    }

    @Test func anyReportFits() throws {
        var status = Self.status(100, text: Self.huge)
        let long = String(repeating: Self.huge, count: 100)
        (status.broker, status.version, status.prefix) = (long, long, long)
        status.phase = .init(rawValue: long)
        status.channelCommands = .init(reasons: [long])
        status.registrations = .init(reasons: [long])
        let consumed = (0..<2000).map { WorkerStatus.ConsumedQueue(name: "queue \($0)", isConsumed: true) }
        status.lanes = [.init(report: .init(wantsRequests: true, queues: consumed))]
        let bounds = Array(0..<1000)
        status.totals.latency = HistogramReading(
            unit: .nanoseconds, bounds: bounds, counts: bounds + [1], sum: 1)
        let report = Self.report(status)
        #expect(report.json.count <= FleetLimits.reportBytesMax)
        let read = try FleetReport(json: report.json)
        #expect(read.consumers == 2000)
        #expect(read.dropped.contains(DroppedElements(list: "breakers", count: 100)))
        #expect(read.dropped.contains(DroppedElements(list: "latency", count: 1)))
    }

    @Test func aForgedReportWithVeryManyElementsIsRefused() {
        let status = WorkerStatus.codecWithoutLanes
        #expect(throws: Never.self) { try status.read(JSONDocument(#"{"worker":"w","queues":[{},{}]}"#).root) }
        let json = """
            {"type":"push.status.v1","boot_id":"\(FleetSamples.uuid(1))","sequence":1,"sent_at":\(FleetSamples.now),\
            "status":{"worker":"w","queues":[\(Array(repeating: "{}", count: 1001).joined(separator: ","))]}}
            """
        #expect(json.utf8.count < FleetLimits.reportBytesMax)
        let error = #expect(throws: InputError.self) { try FleetReport(json: Array(json.utf8)) }
        #expect(error?.message.contains("1000 elements") == true)
    }

    @Test(arguments: [
        (#""sequence":1"#, #""sequence":-1"#, "sequence"), (#""boot_id""#, #""boot""#, "boot_id"),
        (#""worker":"host"#, #""worker":"\u202ehost"#, "worker"), (#""worker":"#, #""name":"#, "worker"),
        (#""consumers":2,"#, #""consumers":-2,"#, "consumers"), (#""sent_at":1"#, #""sent_at":"#, "sent_at"),
    ])
    func aMalformedReportIsRefusedByTheNameOfTheMember(part: String, replacement: String, name: String) throws {
        let valid = String(decoding: FleetSamples.report().json, as: UTF8.self)
        let malformed = valid.replacing(part, with: replacement)
        try #require(malformed != valid)
        let error = #expect(throws: InputError.self) { try FleetReport(json: Array(malformed.utf8)) }
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    }
}
