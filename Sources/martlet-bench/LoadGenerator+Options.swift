import TestKit

extension LoadGenerator {
    init(_ options: RequestOptions, authorization: String, in directory: TemporaryDirectory) throws {
        try self.init(
            connections: options.connections, streams: options.streams, devices: RequestOptions.devices,
            authorization: authorization, payload: BenchMessage.payload(bytes: options.payloadBytes), in: directory)
    }
}
