import AMQP

/// The methods of AMQP 0-9-1 and of RabbitMQ's extensions that the scripted broker reads or sends.
///
/// The raw value has the class ID in the upper half and the method ID in the lower half (AMQP 0-9-1, "Class and method
/// details").
enum AMQPMethod: UInt32 {
    case connectionStart = 0x000A_000A
    case connectionStartOK = 0x000A_000B
    case connectionTune = 0x000A_001E
    case connectionTuneOK = 0x000A_001F
    case connectionOpen = 0x000A_0028
    case connectionOpenOK = 0x000A_0029
    case connectionClose = 0x000A_0032
    case connectionCloseOK = 0x000A_0033
    case connectionBlocked = 0x000A_003C
    case connectionUnblocked = 0x000A_003D

    case channelOpen = 0x0014_000A
    case channelOpenOK = 0x0014_000B
    case channelClose = 0x0014_0028
    case channelCloseOK = 0x0014_0029

    case exchangeDeclare = 0x0028_000A
    case exchangeDeclareOK = 0x0028_000B
    case exchangeBind = 0x0028_001E
    case exchangeBindOK = 0x0028_001F
    case exchangeUnbind = 0x0028_0028
    case exchangeUnbindOK = 0x0028_0033

    case queueDeclare = 0x0032_000A
    case queueDeclareOK = 0x0032_000B
    case queueBind = 0x0032_0014
    case queueBindOK = 0x0032_0015
    case queuePurge = 0x0032_001E
    case queuePurgeOK = 0x0032_001F
    case queueDelete = 0x0032_0028
    case queueDeleteOK = 0x0032_0029
    case queueUnbind = 0x0032_0032
    case queueUnbindOK = 0x0032_0033

    case basicQos = 0x003C_000A
    case basicQosOK = 0x003C_000B
    case basicConsume = 0x003C_0014
    case basicConsumeOK = 0x003C_0015
    case basicCancel = 0x003C_001E
    case basicCancelOK = 0x003C_001F
    case basicPublish = 0x003C_0028
    case basicReturn = 0x003C_0032
    case basicDeliver = 0x003C_003C
    case basicGet = 0x003C_0046
    case basicGetOK = 0x003C_0047
    case basicGetEmpty = 0x003C_0048
    case basicAck = 0x003C_0050
    case basicReject = 0x003C_005A
    case basicNack = 0x003C_0078

    case confirmSelect = 0x0055_000A
    case confirmSelectOK = 0x0055_000B

    /// The class ID in content headers.
    static let basicClass: UInt16 = 0x003C

    /// Reads the IDs at the start of a method frame. Returns nil if the IDs are missing or unknown.
    init?(_ reader: inout WireReader) {
        guard let number = reader.long() else { return nil }
        self.init(rawValue: number)
    }
}

/// The error for method arguments that are too short.
struct ArgumentsCutShort: Error {}

extension WireReader {
    mutating func text() -> String? {
        shortString().map { String(wire: $0) }
    }

    mutating func table() -> FieldTable? {
        longString().flatMap { FieldTable(content: $0) }
    }
}
