"""Sends commands with direct reply-to, one at a time, and prints each reply: ask.py URL QUEUE COMMAND..."""

import sys
import time
import uuid

import pika

url, queue, *commands = sys.argv[1:]
connection = pika.BlockingConnection(pika.URLParameters(url))
channel = connection.channel()
replies = {}


def replied(_channel, _method, properties, body):
    replies[properties.correlation_id] = body.decode()


channel.basic_consume("amq.rabbitmq.reply-to", replied, auto_ack=True)
for command in commands:
    number = str(uuid.uuid4())
    properties = pika.BasicProperties(
        reply_to="amq.rabbitmq.reply-to", correlation_id=number, message_id=number, delivery_mode=2
    )
    channel.basic_publish("", queue, command, properties)
    deadline = time.monotonic() + 30
    while number not in replies and time.monotonic() < deadline:
        connection.process_data_events(time_limit=1)
    print(replies[number])
connection.close()
