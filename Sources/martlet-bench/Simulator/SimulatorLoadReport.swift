import JSON
import Text

/// The figures of one sample of one server.
struct LoadMeasurement {
    var requestsPerSecond: Double
    /// User and system time of the server, in microseconds per request.
    var processorMicroseconds: Double
    /// The peak resident memory since the start of the process.
    var peakMegabytes: Double

    /// Returns the median of each figure.
    static func median(_ samples: [LoadMeasurement]) -> LoadMeasurement {
        LoadMeasurement(
            requestsPerSecond: Figures.median(samples.map(\.requestsPerSecond)),
            processorMicroseconds: Figures.median(samples.map(\.processorMicroseconds)),
            peakMegabytes: Figures.median(samples.map(\.peakMegabytes)))
    }

    func line(_ name: String) -> String {
        name.padded(to: 9)
            + Figures.cell(requestsPerSecond, places: 0, width: 13)
            + Figures.cell(processorMicroseconds, places: 2, width: 18)
            + Figures.cell(peakMegabytes, places: 1, width: 10)
    }
}

/// The measurements of both servers, as a table and as JSON.
struct SimulatorLoadReport {
    let options: RequestOptions
    var baseline: [LoadMeasurement] = []
    var simulator: [LoadMeasurement] = []

    /// The simulator's processor time per request, as a multiple of the baseline's processor time.
    private var cost: Double {
        LoadMeasurement.median(simulator).processorMicroseconds / LoadMeasurement.median(baseline).processorMicroseconds
    }

    /// Whether the simulator is within its limit, or the limit is not enforced.
    var isWithinLimit: Bool { !options.enforcesLimits || cost <= Self.costMax }

    /// The limit, as a multiple of the baseline's processor time.
    static let costMax = 2.0

    var table: String {
        let baseline = LoadMeasurement.median(baseline)
        let simulator = LoadMeasurement.median(simulator)
        return """
            \(options.description)

                       requests/s    CPU µs/request   peak MB
            \(baseline.line("baseline"))
            \(simulator.line("simulator"))

            The simulator needs \(Figures.decimal(cost, places: 2)) times the baseline's processor time.
            """
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", "simulator")
        json.member("requests", options.requests)
        json.member("connections", options.connections)
        json.member("streams", options.streams)
        json.member("payload_bytes", options.payloadBytes)
        json.key("cost_ratio")
        json.double((cost * 100).rounded() / 100)
        for (name, samples) in [("baseline", baseline), ("simulator", simulator)] {
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

    private static func write(_ figures: LoadMeasurement, to json: inout JSONWriter) {
        json.figures(
            [
                "requests_per_second": figures.requestsPerSecond,
                "cpu_us_per_request": figures.processorMicroseconds,
                "peak_mb": figures.peakMegabytes,
            ], places: 2)
    }
}
