import JSON

/// What was measured, for people and for programs.
struct EndToEndReport {
    let options: EndToEndOptions
    let floor: [Measurement]
    let worker: [Measurement]

    var table: String {
        let floor = Measurement.median(floor)
        let worker = Measurement.median(worker)
        let rate = Figures.decimal(worker.messagesPerSecond / floor.messagesPerSecond * 100, places: 0)
        let cost = Figures.decimal(worker.processorMicroseconds / floor.processorMicroseconds, places: 1)
        return """
            \(options.messages) messages of \(BenchMessage.bytes) bytes a sample, \(options.inFlight) in flight, one lane, \
            TLS, quorum queues; median of \(options.samples)

                     messages/s   CPU µs/message (user + system)   peak MB   broker, simulator CPU µs/message
            \(Self.line("floor", floor))
            \(Self.line("martlet", worker))

            The worker reaches \(rate) % of the floor's rate and costs \(cost) times its processor time.
            """
    }

    static func line(_ name: String, _ figures: Measurement) -> String {
        return name + String(repeating: " ", count: max(0, 9 - name.count))
            + Figures.cell(figures.messagesPerSecond, places: 0, width: 10)
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
        json.member("message_bytes", BenchMessage.bytes)
        json.member("in_flight", options.inFlight)
        for (name, samples) in [("floor", floor), ("martlet", worker)] {
            json.key(name)
            json.beginObject()
            json.key("median")
            Self.write(.median(samples), to: &json)
            json.beginArray("samples")
            for sample in samples { Self.write(sample, to: &json) }
            json.endArray()
            json.endObject()
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func write(_ figures: Measurement, to json: inout JSONWriter) {
        json.beginObject()
        for (name, figure) in [
            ("messages_per_second", figures.messagesPerSecond),
            ("cpu_us_per_message", figures.processorMicroseconds),
            ("user_us_per_message", figures.userMicroseconds),
            ("system_us_per_message", figures.systemMicroseconds),
            ("broker_us_per_message", figures.brokerMicroseconds),
            ("simulator_us_per_message", figures.simulatorMicroseconds),
            ("peak_mb", figures.peakMegabytes),
        ] {
            json.key(name)
            json.double((figure * 100).rounded() / 100)
        }
        json.endObject()
    }
}
