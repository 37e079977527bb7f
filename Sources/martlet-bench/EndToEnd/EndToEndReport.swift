import JSON

/// What was measured, for people and for programs.
struct EndToEndReport {
    let options: EndToEndOptions
    var samples: [BenchProgram: [Measurement]] = [:]

    init(options: EndToEndOptions) {
        self.options = options
    }

    private func median(_ program: BenchProgram) -> Measurement { .median(samples[program] ?? []) }

    var table: String {
        """
        \(options.description)

                       messages/s   CPU µs/message (user + system)   peak MB   broker, simulator CPU µs/message
        \(BenchProgram.allCases.map { Self.line($0, median($0)) }.joined(separator: "\n"))

        \(BenchProgram.allCases.filter { $0.floor != nil }.map { comparison(with: $0) }.joined(separator: "\n"))
        """
    }

    private func comparison(with floor: BenchProgram) -> String {
        let (floorFigures, martlet) = (median(floor), median(.martlet))
        let rate = Figures.decimal(martlet.messagesPerSecond / floorFigures.messagesPerSecond, places: 2)
        let cost = Figures.decimal(martlet.processorMicroseconds / floorFigures.processorMicroseconds, places: 1)
        return "Martlet reaches \(rate) of \(floor.rawValue)'s rate and costs \(cost) times its processor time."
    }

    static func line(_ program: BenchProgram, _ figures: Measurement) -> String {
        program.cell
            + Figures.cell(figures.messagesPerSecond, places: 0, width: 12)
            + Figures.cell(figures.processorMicroseconds, places: 2, width: 17)
            + " (\(Figures.decimal(figures.userMicroseconds, places: 2)) + \(Figures.decimal(figures.systemMicroseconds, places: 2)))"
            + Figures.cell(figures.peakMegabytes, places: 1, width: 10)
            + Figures.cell(figures.brokerMicroseconds, places: 1, width: 10)
            + Figures.cell(figures.simulatorMicroseconds, places: 1, width: 8)
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", "end-to-end")
        json.member("messages", options.messages)
        json.member("message_bytes", options.messageBytes)
        json.member("in_flight", options.inFlight)
        json.member("delay_ms", options.delayMilliseconds)
        json.member("apps", options.apps)
        json.member("lanes", options.lanes)
        json.member("workers", options.workers)
        for program in BenchProgram.allCases {
            json.key(program.rawValue)
            json.beginObject()
            json.key("median")
            Self.write(median(program), to: &json)
            json.beginArray("samples")
            for sample in samples[program] ?? [] { Self.write(sample, to: &json) }
            json.endArray()
            json.endObject()
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func write(_ figures: Measurement, to json: inout JSONWriter) {
        json.figures(
            [
                "messages_per_second": figures.messagesPerSecond,
                "cpu_us_per_message": figures.processorMicroseconds,
                "user_us_per_message": figures.userMicroseconds,
                "system_us_per_message": figures.systemMicroseconds,
                "broker_us_per_message": figures.brokerMicroseconds,
                "simulator_us_per_message": figures.simulatorMicroseconds,
                "peak_mb": figures.peakMegabytes,
            ], places: 2)
    }
}
